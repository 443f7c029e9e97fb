//! What a `Recorder` writes is a list of events, if its calls and answers are written as such.

use std::sync::mpsc::channel;

use interlap::check::Verdict;
use interlap::core::recorder::Recorder;
use interlap::exchange::{Format, Options};
use serde_json::{Value, json};

use super::{OPTIONS, read_text, verdict};

/// Sends what is written to it.
struct Sent(std::sync::mpsc::Sender<Vec<u8>>);

impl std::io::Write for Sent {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.send(bytes.to_vec()).expect("the test goes on");
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The verdict of a queue to which 7 and 8 are added, the 8 perhaps, and which then answers this.
fn judged(answers: &[Value]) -> Verdict {
    let (sender, written) = channel();
    let recorder: Recorder<Value, Value> = Recorder::new();
    recorder.write_to(Sent(sender));
    let enqueue = |value: u32| recorder.invoke(0, json!({"op": "enqueue", "args": [value]}));
    enqueue(7).returned(json!({}));
    drop(enqueue(8)); // its client goes on
    for answer in answers {
        recorder.invoke(0, json!({"op": "dequeue"})).returned(answer.clone());
    }
    let under_way = recorder.invoke(1, json!({"op": "dequeue"}));
    recorder.written().expect("it was written");
    let text = String::from_utf8(written.try_iter().flatten().collect()).expect("JSON");
    drop(under_way);
    let options = Options { model: Some("fifo".parse().expect("a model")), ..OPTIONS };
    let imported = read_text(&text, Format::Events, &options).expect("events");
    assert_eq!(imported.history.len(), answers.len() + 3);
    verdict(&imported)
}

#[test]
fn a_call_without_an_answer_may_have_taken_effect_or_not() {
    let (some, empty) = (|value: u32| json!({"results": [value]}), json!({"status": "empty"}));
    assert_eq!(judged(&[some(7), some(8), empty.clone()]), Verdict::Consistent);
    assert_eq!(judged(&[some(7), empty.clone(), some(8)]), Verdict::Consistent);
    assert_eq!(judged(&[some(7), empty.clone()]), Verdict::Consistent);
    assert!(matches!(judged(&[empty, some(7)]), Verdict::Violation(_)));
    assert!(matches!(judged(&[some(8), some(7)]), Verdict::Violation(_)));
}
