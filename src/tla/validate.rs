//! The modules that OmniLink generates for a specification: `QueueValidate`, which checks logs
//! against `Queue`, and `__TraceOps`. What its users write on top of them (`MCQueueValidate`, its
//! configuration, `__Action_Dequeue <- ...`) is used as it is.
//!
//! Each operation of `Queue` is an action here, whose parameter is a whole record of a log. Which
//! records come next, the search decides: what OmniLink's modules say of that is left out.
//! Source: `omnilink/tool` of <https://github.com/DistCompiler/pgo>.

use std::path::Path;

use super::load;
use super::methods::{DONE, STEP};
use super::problem::Result;
use super::syntax::{Definition, Module, Param, Unit};

/// The module that has what is known of the records.
pub const OPERATIONS: &str = "__TraceOps";
/// The constant that is all records: for each thread, from 0, their sequence.
pub const TRACES: &str = "__traces";
/// The variable that is the record of the step that is made.
pub const ACTION: &str = "__action";
/// How the name of the action of an operation begins.
pub const CALL: &str = "__Call_";
/// Records that are no operations, but the ends of threads.
pub const ENDS: [&str; 2] = ["__TerminateThread", "__AbortThread"];

/// How the names of modules end that OmniLink generates.
const VALIDATE: &str = "Validate";
/// What `__TraceOps` has, besides what only TLC needs.
const TRACE_OPS: &str = "---- MODULE __TraceOps ----
EXTENDS Integers, Sequences
VARIABLES __vars, __Spec_vars, __state, __pc, __viable_pids, __action
CONSTANTS __traces, __tracefile_name
traces == __traces
Init ==
    /\\ __pc = [pid \\in DOMAIN traces |-> 1]
    /\\ __viable_pids = {}
    /\\ __action = <<>>
AtEndOfTrace == \\A pid \\in DOMAIN traces : __pc[pid] = Len(traces[pid]) + 1
PostCondition == TRUE
DebugAlias == __state
====
";

/// The text of a module of this name, if it is one that OmniLink generates; `beside`: the file that
/// names it.
///
/// # Errors
/// If the specification that it is for cannot be read.
pub fn module(name: &str, beside: &Path) -> Result<Option<String>> {
    if name == OPERATIONS {
        return Ok(Some(TRACE_OPS.to_string()));
    }
    let file = |of: &str| beside.with_file_name(format!("{of}.tla"));
    match name.strip_suffix(VALIDATE).map(file).filter(|file| file.exists()) {
        Some(file) => Ok(Some(generated(&load::read(&file)?.0))),
        None => Ok(None),
    }
}

fn generated(of: &Module) -> String {
    let (mut constants, mut variables, mut definitions) = (Vec::new(), Vec::new(), Vec::new());
    for unit in &of.units {
        match unit {
            Unit::Constants(all) => constants.extend(all.iter().map(declared)),
            Unit::Variables(all) => variables.extend(all.iter().map(|(name, _)| name.clone())),
            Unit::Definition(of) if of.domain.is_empty() => definitions.push(of),
            _ => {}
        }
    }
    constants.extend([TRACES, "__tracefile_name"].map(str::to_string));
    let spec = variables.join(", ");
    let fields: Vec<String> = variables.iter().map(|name| format!("{name} |-> {name}")).collect();
    variables.extend(["__pc", "__viable_pids", ACTION].map(str::to_string));
    let (name, constants, all) = (&of.name, constants.join(", "), variables.join(", "));
    let fields = fields.join(", ");
    let mut text = format!(
        "---- MODULE {name}{VALIDATE} ----\n\
         EXTENDS Integers\n\
         CONSTANTS {constants}\n\
         VARIABLES {all}\n\
         __Spec == INSTANCE {name}\n\
         __Spec_vars == <<{spec}>>\n\
         __vars == <<{all}>>\n\
         __state == [{fields}]\n\
         __TraceOps == INSTANCE {OPERATIONS}\n\
         Init == __Spec!Init /\\ __TraceOps!Init\n\
         __AbortBehavior == UNCHANGED __Spec_vars\n\
         __Action__TerminateThread == UNCHANGED __Spec_vars\n\
         __Action__AbortThread == FALSE\n"
    );
    let takes_values = |of: &&Definition| of.params.iter().all(|param| param.arity == 0);
    for of in definitions.into_iter().filter(takes_values) {
        text += &operation(of);
    }
    for end in ENDS {
        text += &action(end, 1, &format!("__action' = __event /\\ __Action{end}"));
    }
    text + "====\n"
}

/// A constant as it is declared.
fn declared(of: &Param) -> String {
    match of.arity {
        0 => of.name.clone(),
        arity => format!("{}({})", of.name, vec!["_"; arity].join(", ")),
    }
}

/// What a user may say more of an operation, and its action.
fn operation(of: &Definition) -> String {
    let name = &of.name;
    let args: Vec<String> = of.params.iter().map(|of| format!("__op.{}", of.name)).collect();
    let args = if args.is_empty() { String::new() } else { format!("({})", args.join(", ")) };
    let of_step = format!("[__event EXCEPT !.operation_name = \"{name}\"]");
    let (is_step, is_done) = (name.ends_with(STEP), name.ends_with(DONE));
    let record = if is_step || is_done { &of_step } else { "__event" };
    let allowed = format!("__action' = {record} /\\ __Spec!{name}{args} /\\ __Action_{name}");
    let action = match is_step {
        true => action(name, 0, &format!("~__op._did_abort /\\ {allowed}")),
        false => {
            let aborted = "__action' = __event /\\ __AbortBehavior";
            action(name, 1, &format!("IF __op._did_abort THEN {aborted} ELSE {allowed}"))
        }
    };
    format!("__Action_{name} == TRUE\n{action}")
}

/// The action of a record, which goes on by so many in its thread.
fn action(name: &str, goes_on: u32, allowed: &str) -> String {
    format!(
        "{CALL}{name}(__event) ==\n\
         LET __op == __event.operation IN\n\
         /\\ __pc' = [__pc EXCEPT ![__event.pid] = @ + {goes_on}]\n\
         /\\ UNCHANGED __viable_pids\n\
         /\\ {allowed}\n"
    )
}
