# Asks TLC for the answers to the golden probes and writes them into the files.
#
#   python3 generate.py JAR expressions.txt actions.txt
#
# Only the left sides of the files are read; the right sides are written anew.
# TLC runs one JVM at a time.  Python 3, standard library only.
import os
import re
import subprocess
import sys
import tempfile

EXTENDS = "EXTENDS Integers, Sequences, FiniteSets, TLC, Bags\n"
ARROW = "  ==>  "
runs = 0


def read(path):
    with open(path) as f:
        return f.read()


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def tlc(jar, module, config, dump=False):
    """Runs TLC on the text of a module M; gives its output and the dump."""
    global runs
    runs += 1
    with tempfile.TemporaryDirectory() as d:
        write(d + "/M.tla", "---- MODULE M ----\n" + module + "\n====\n")
        write(d + "/M.cfg", config)
        command = ["java", "-Xmx512m", "-XX:+UseSerialGC",
                   "-XX:TieredStopAtLevel=1", "-Djava.io.tmpdir=" + d,
                   "-cp", jar, "tlc2.TLC", "-deadlock", "-nowarning",
                   "-workers", "1", "-metadir", d + "/meta"]
        if dump:
            command += ["-dump", d + "/out"]
        p = subprocess.run(command + ["M.tla"], cwd=d, timeout=120, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        states = d + "/out.dump"
        return p.stdout, read(states) if os.path.exists(states) else ""


# TLC orders strings and record fields by the first occurrence of the word in
# the parsed modules.  So each module begins with a record that has all the
# words (that begin with a small letter) as fields, sorted by character codes.
def sorted_words(text):
    return sorted(set(re.findall(r"\b[a-z]\w*", text)))


def order(text):
    return "ZzOrder == [%s |-> 0]\n" % " |-> 0, ".join(sorted_words(text))


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|<<|>>|\|->|->|:>|@@|\.\.|'
                   r'\\\w+|-?\w+|[^\s\w]')
SPACED = ("|->", ":>", "@@", "->", "SUBSET", "UNION")


def one_line(value):
    """TLC breaks long values over lines: this puts one on one line again."""
    out = ""
    previous = ""
    for t in TOKEN.findall(value):
        word = re.match(r"[\w\\]", t) and re.match(r".*\w$", previous)
        if (word or t in SPACED or t.startswith("\\") or previous in SPACED
                or previous.startswith("\\") or previous in (",", ":")):
            out += " "
        out += t
        previous = t
    return out.strip()


def ask(jar, head, probes):
    """The answers to a list of (number, expression), as {number: answer}."""
    if not probes:
        return {}
    body = "".join("ASSUME PrintT(<<%d, %s>>)\n" % p for p in probes)
    output, _ = tlc(jar, head + body, "")
    # A printed value begins at a line with its number and may go on for some
    # lines.  After the first evaluation that fails nothing more is printed.
    text = output[output.rfind("\nStarting..."):]
    text = re.split(r"\n(?:Error:|Finished|Computing|Model checking)", text)[0]
    parts = re.split(r"\n<<\s*(\d+),", text)[1:]
    answers = {}
    for n, value in zip(map(int, parts[::2]), parts[1::2]):
        assert value.rstrip().endswith(">>"), value
        answers[n] = one_line(value.rstrip()[:-2])
    left = [p for p in probes if p[0] not in answers]
    if not left:
        return answers
    if len(probes) == 1 or "Error: Evaluating assumption" in output:
        # all was parsed, and the first that is left failed
        log(left[0][1], output)
        answers[left[0][0]] = "!"
        return {**answers, **ask(jar, head, left[1:])}
    # Not parsed: ask alone those probes that the errors name, else halve.
    first = head.count("\n") + 2
    lines = {int(n) - first for n in re.findall(r"\bline (\d+)", output)}
    bad = [p for i, p in enumerate(probes) if i in lines]
    if not bad or len(bad) == len(probes):
        bad = probes[:len(probes) // 2]
    for few in [[p] for p in bad] if len(bad) < 5 else [bad]:
        answers.update(ask(jar, head, few))
    answers.update(ask(jar, head, [p for p in probes if p not in bad]))
    return answers


def log(probe, output):
    """Keeps TLC's words about refusals where GOLDEN_LOG names a file."""
    assert "Error" in output, output  # else it was the JVM that failed
    if "GOLDEN_LOG" in os.environ:
        with open(os.environ["GOLDEN_LOG"], "a") as f:
            f.write("## %s\n%s\n" % (probe, output))


def do_expressions(jar, path):
    lines = read(path).split("\n")
    start, end = lines.index("---- prelude"), lines.index("----")
    prelude = "\n".join(lines[start + 1:end]) + "\n"
    probes = [(i, l.split(ARROW)[0].rstrip()) for i, l in enumerate(lines)
              if i > end and l.strip() and not l.startswith("\\*")]
    text = "\n".join([prelude] + [p for _, p in probes])
    check_order(jar, text)
    head = EXTENDS + order(text) + prelude
    answers = {}
    for i in range(0, len(probes), 64):
        answers.update(ask(jar, head, probes[i:i + 64]))
    for i, expression in probes:
        lines[i] = expression + ARROW + answers[i]
    write(path, "\n".join(lines))
    refused = list(answers.values()).count("!")
    print("%s: %d probes, %d refused" % (path, len(probes), refused))


def check_order(jar, text):
    words = sorted_words(text)
    output, _ = tlc(jar, EXTENDS + order(text) + 'ASSUME PrintT(<<0, {"%s"}>>)'
                    % '", "'.join(reversed(words)), "")
    got = re.findall(r'"(\w+)"', output[output.index("\nStarting"):])
    if got != words:
        print("warning: strings are not sorted: " + " ".join(got))


def successors(jar, block):
    """The right side of a block: a sorted list of states, or ["!"]."""
    part = {"define": []}
    for line in block:
        word, _, rest = line.partition(" ")
        if word == "define":
            part["define"].append(rest)
        else:
            part[word] = rest
    names = [v.strip() for v in part["variables"].split(",")]
    # the variable zzpc keeps TLC to one step
    module = (EXTENDS + order("\n".join(block)) + "VARIABLE zzpc\n"
              "VARIABLES %s\n%s\nZzInit == zzpc = 0 /\\ (%s)\n"
              "ZzNext == zzpc = 0 /\\ zzpc' = 1 /\\ (%s)" % (
                  part["variables"], "\n".join(part["define"]),
                  part["state"], part["action"]))
    output, dump = tlc(jar, module, "INIT ZzInit\nNEXT ZzNext\n", dump=True)
    if "Model checking completed. No error has been found." not in output:
        log(part["action"], output)
        return ["!"]
    result = set()
    for state in re.split(r"(?m)^State \d+:\n", dump)[1:]:
        pieces = re.split(r"(?m)^/\\ (\w+) = ", state)[1:]
        value = dict(zip(pieces[::2], map(one_line, pieces[1::2])))
        if value["zzpc"] == "1":
            result.add(" /\\ ".join(n + " = " + value[n] for n in names))
    return sorted(result)


def do_actions(jar, path):
    count, refused, disabled, out = 0, 0, 0, []
    for block in re.split(r"\n\s*\n", read(path).strip("\n")):
        lines = [l for l in block.split("\n") if l.split(" ")[0] != "next"]
        probe = [l for l in lines if not l.startswith("\\*")]
        if probe:
            states = successors(jar, probe)
            lines += ["next " + s for s in states]
            count += 1
            refused += states == ["!"]
            disabled += states == []
        out.append("\n".join(lines))
    write(path, "\n\n".join(out) + "\n")
    print("%s: %d probes, %d refused, %d not enabled" % (
        path, count, refused, disabled))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: generate.py JAR expressions.txt actions.txt")
    do_expressions(os.path.abspath(sys.argv[1]), sys.argv[2])
    do_actions(os.path.abspath(sys.argv[1]), sys.argv[3])
    print("%d runs of TLC" % runs)
