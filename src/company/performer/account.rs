//! The Company's account of what happened: state and result of an action that came to its end (Operations 6, rule OC-32).

use serde_json::{Map, Value};

use crate::{
    company::{
        Shop,
        desk::operations::noun,
        record::{Offer, Record, StepDone, Undo},
        terms::{self, capitalised},
    },
    plan::{Action, CompanyDefect},
    protocol::{OperationResult, State},
};

/// How a run of an action's steps came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Every step is done.
    Done,
    /// The backend refused this step for good.
    Refused(usize),
    /// A cancel stopped it before its next step.
    Stopped,
    /// The backend did not answer on this step, and nobody asked again; a defect.
    Unanswered(usize),
}

/// Final state and result.
pub(super) fn close(
    shop: &Shop,
    record: &Record,
    terms: &Offer,
    done: &[StepDone],
    end: End,
) -> (State, OperationResult) {
    let action = shop.action(record.kind);
    let state = match end {
        End::Done => State::Succeeded,
        End::Refused(_) if shop.has(CompanyDefect::SucceedOnPartial) => State::Succeeded,
        End::Refused(_) | End::Unanswered(_) => State::Failed,
        End::Stopped => State::Cancelled,
    };
    let silent = state != State::Succeeded && shop.has(CompanyDefect::SwallowPartial);
    let done = if silent { &[] } else { done };
    let mut summary = opening(shop, record, terms, state, end);
    if !silent {
        tell(&mut summary, action, done, state);
    }
    (state, OperationResult { summary, data: Some(data(record, action, done)) })
}

/// The first sentence.
fn opening(shop: &Shop, record: &Record, terms: &Offer, state: State, end: End) -> String {
    let action = shop.action(record.kind);
    let step = |index: usize| action.steps.get(index).map_or_else(String::new, |step| step.name.replace('-', " "));
    match (state, end) {
        (State::Succeeded, _) => match &action.done {
            Some(template) => terms::fill(&shop.world, action, &record.action_id, &record.subject, terms, template),
            None => format!("The {} is done.", noun(action)),
        },
        (_, End::Refused(index)) => {
            format!("The {} could not be completed: \u{201c}{}\u{201d} was refused.", noun(action), step(index))
        }
        (_, End::Unanswered(index)) => {
            format!("The {} could not be completed: \u{201c}{}\u{201d} was not answered.", noun(action), step(index))
        }
        (_, End::Done | End::Stopped) => format!("The {} was stopped as you asked.", noun(action)),
    }
}

/// Every change that was made, with its receipt. The opening of a success tells the changes in its own words already,
/// so that their receipts are enough.
fn tell(summary: &mut String, action: &Action, done: &[StepDone], state: State) {
    let entries = action.steps.iter().zip(done);
    if state == State::Succeeded {
        for (index, (step, entry)) in entries.enumerate() {
            let lead = if index == 0 { " Receipts: " } else { ", " };
            summary.extend([lead, step.name.as_str(), " ", entry.receipt.as_str()]);
        }
        summary.push('.');
        return;
    }
    if done.is_empty() {
        summary.push_str(" Nothing was done.");
    }
    for (step, entry) in entries {
        let phrase = step.phrase.as_deref().map_or_else(|| capitalised(&step.name), ToOwned::to_owned);
        let phrase = phrase.trim_end_matches('.');
        summary.extend([" Done: ", phrase, " (receipt ", entry.receipt.as_str(), ")."]);
        let undo = step.undo.as_deref().unwrap_or_default();
        match &entry.undo {
            Undo::None => {}
            Undo::Done(receipt) => {
                summary.extend([" Undone: ", undo, " (receipt ", receipt.as_str(), ")."]);
            }
            Undo::Refused => summary.extend([" It could not be undone: ", undo, " was refused."]),
        }
    }
}

/// The business references.
fn data(record: &Record, action: &Action, done: &[StepDone]) -> Map<String, Value> {
    let mut receipts = Map::new();
    for (step, entry) in action.steps.iter().zip(done) {
        receipts.insert(step.name.to_string(), Value::from(entry.receipt.as_str()));
        if let (Some(undo), Undo::Done(receipt)) = (&step.undo, &entry.undo) {
            receipts.insert(undo.to_string(), Value::from(receipt.as_str()));
        }
    }
    let mut data = Map::new();
    data.insert(format!("{}_id", action.name.replace('-', "_")), Value::from(record.id.as_str()));
    data.insert("receipts".to_owned(), Value::Object(receipts));
    data
}
