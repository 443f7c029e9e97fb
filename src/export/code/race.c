
// ---- ThreadSanitizer, a part of the compiler, calls this for each race that it reports. It may see
// others before that of the finding.

int __tsan_get_report_mop(void *, unsigned long, int *, void **, int *, int *, int *, void **,
                          unsigned long);
void __sanitizer_symbolize_pc(void *, const char *, char *, size_t);
const char *__tsan_default_options(void);
void __tsan_on_report(void *report);

// Whether one of the race's two accesses is at that line.
static int is_at(void *report, unsigned long access, const char *line) {
    enum { DEPTH = 32 };
    void *code[DEPTH] = {NULL}, *address;
    int thread, size, writes, is_atomic;
    __tsan_get_report_mop(report, access, &thread, &address, &size, &writes, &is_atomic, code,
                          DEPTH);
    for (int at = 0; at < DEPTH && code[at] != NULL; at++) {
        char lines[4096] = {0}; // of the functions that are inlined there, too
        __sanitizer_symbolize_pc(code[at], "%s:%l", lines, sizeof lines - 2);
        for (char *one = lines; *one != 0; one += strlen(one) + 1) {
            size_t length = strlen(one), least = strlen(line);
            if (length < least || strcmp(one + length - least, line) != 0) continue;
            if (length == least || least == 0 || one[length - least - 1] == '/') return 1;
        }
    }
    return 0;
}
void __tsan_on_report(void *report) {
    int is_one = is_at(report, 0, racing[0]) && is_at(report, 1, racing[1]);
    if (is_one || (is_at(report, 0, racing[1]) && is_at(report, 1, racing[0]))) is_shown = 1;
}
// This program ends with a status of its own, and one race does not hide another.
const char *__tsan_default_options(void) { return "exitcode=0 suppress_equal_addresses=0"; }
