//! Companies as groups with a whole Company file each.

use std::collections::BTreeMap;

use super::text;
use crate::plan::{
    Action, Approval, Capacity, CompanyPlan, Distribution, OnPartial, RowLocks, Sessions, Step, WithoutExtension,
};
use crate::protocol::SessionMode;
use crate::scenario::raw::{
    ActionSettings, AnswerSettings, Approvals, BackendSection, CapacitySection, CompanyFile, DatabaseSection,
    DefectList, Extension, Group, Partial, ProposalSettings, ReviseChances, RowLocksWord, SessionChoice,
    SessionSettings, SessionsKey, StepSettings, StoreSection, StoreSync, Wanted, YesNo,
};
use crate::scenario::value::{At, Catalogue as _, Named, Price, ServiceSpread, Share, Spread, Time, Word};

/// The groups of those Companies, in their order.
pub(super) fn groups(companies: &[CompanyPlan]) -> Named<Group> {
    let groups = companies.chunk_by(|one, next| one.group == next.group);
    let mut next = BTreeMap::new();
    Named(groups.filter_map(|members| Some((text(&members.first()?.group), group(members, &mut next)?))).collect())
}

/// One group; `next` holds the number that follows those of each profile so far.
fn group<'a>(members: &'a [CompanyPlan], next: &mut BTreeMap<&'a str, u32>) -> Option<Group> {
    let count = u32::try_from(members.len()).ok()?;
    let settings = company(members)?;
    let next = next.entry(members.first()?.profile.as_str()).or_insert(1);
    let in_turn = members.iter().zip(*next..).all(|(member, number)| member.number == number);
    let numbers: Vec<u32> = members.iter().map(|member| member.number).collect();
    *next = numbers.iter().max().map_or(*next, |last| last.saturating_add(1));
    Some(Group {
        profile: None,
        company: Some(settings),
        count: in_turn.then(|| At::nowhere(count)),
        numbers: (!in_turn).then(|| At::nowhere(numbers)),
        title: None,
        domain: None,
        speaks: None,
        operations_version: None,
        sessions: None,
        answers: None,
        proposals: None,
        store: None,
        backend: None,
        capacity: None,
        actions: None,
        defects: None,
    })
}

fn company(members: &[CompanyPlan]) -> Option<CompanyFile> {
    let plan = members.first()?;
    let domains: Vec<(u32, &str)> = members.iter().map(|member| (member.number, member.domain.as_str())).collect();
    let titles: Vec<(u32, &str)> = members.iter().map(|member| (member.number, member.title.as_str())).collect();
    Some(CompanyFile {
        company: text(&plan.profile),
        title: Some(text(template(&titles))),
        domain: Some(text(template(&domains))),
        speaks: Some(At::nowhere(vec![Wanted::Operations])),
        operations_version: Some(text(&plan.operations_version)),
        sessions: Some(sessions(&plan.sessions)),
        answers: Some(AnswerSettings {
            latency: Some(Spread(plan.answers.latency.clone())),
            answer_within: Some(Time(plan.answers.answer_within)),
            retry_after: Some(Time(plan.answers.retry_after)),
        }),
        proposals: Some(ProposalSettings {
            lifetime: Some(At::nowhere(Time(plan.proposals.lifetime))),
            revise: Some(ReviseChances {
                before_approval: Some(Share(plan.proposals.revise_before_approval)),
                after: Some(Spread(plan.proposals.revise_after.clone())),
                during_confirm: Some(Share(plan.proposals.revise_during_confirm)),
            }),
        }),
        store: Some(StoreSection { sync: Some(StoreSync::EachWrite), keep_final: Some(Time(plan.store.keep_final)) }),
        backend: Some(BackendSection {
            latency: Some(Spread(plan.backend.latency.clone())),
            timeout: Some(At::nowhere(Time(plan.backend.timeout))),
            ask_again: Some(Time(plan.backend.ask_again)),
        }),
        capacity: plan.capacity.as_ref().map(capacity),
        actions: Some(Named(plan.actions.iter().map(|(name, plan)| (text(name), action(plan))).collect())),
        defects: Some(DefectList(plan.defects.iter().map(|defect| At::nowhere(Word(defect))).collect())),
    })
}

fn capacity(plan: &Capacity) -> CapacitySection {
    let spread = |spread: &Distribution| At::nowhere(ServiceSpread::Given(spread.clone()));
    let of = plan.service_of.iter().map(|(kind, distribution)| (text(kind.name()), spread(distribution)));
    CapacitySection {
        workers: Some(At::nowhere(plan.workers)),
        queue: plan.queue.map(At::nowhere),
        retry_after: plan.retry_after.map(Time),
        service: Some(spread(&plan.service)),
        service_of: (!plan.service_of.is_empty()).then(|| Named(of.collect())),
        abandon: Some(if plan.abandon { YesNo::Yes } else { YesNo::No }),
        database: plan.database.as_ref().map(|share| DatabaseSection {
            name: share.name.as_ref().map(text),
            connections: Some(At::nowhere(share.connections)),
            time: Some(spread(&share.time)),
            row_locks: Some(match share.row_locks {
                RowLocks::Writes => RowLocksWord::Writes,
                RowLocks::All => RowLocksWord::All,
                RowLocks::None => RowLocksWord::None,
            }),
        }),
    }
}

/// The text with `{n}` that makes each of `made` when its number is put in.
fn template(made: &[(u32, &str)]) -> String {
    let Some((number, first)) = made.first() else { return String::new() };
    let number = number.to_string();
    let candidate = |(start, _): (usize, &str)| format!("{}{{n}}{}", &first[..start], &first[start + number.len()..]);
    let fits = |candidate: &String| {
        made.iter().all(|(number, text)| candidate.replacen("{n}", &number.to_string(), 1) == *text)
    };
    // With one Company, its text itself will do as well as any template.
    let template = if made.len() > 1 { first.match_indices(&number).map(candidate).find(fits) } else { None };
    template.unwrap_or_else(|| (*first).to_owned())
}

fn sessions(plan: &Sessions) -> SessionsKey {
    let settings = SessionSettings {
        nonce_every: plan.nonce_every.map(|time| At::nowhere(Time(time))),
        proof_window: Some(At::nowhere(Time(plan.proof_window))),
        token_lifetime: Some(At::nowhere(Time(plan.token_lifetime))),
        operations_resource: Some(plan.operations_resource),
    };
    SessionsKey(At::nowhere(match plan.mode {
        SessionMode::Dpop01 => SessionChoice::Dpop01(settings),
        SessionMode::Dpop02 => SessionChoice::Dpop02(settings),
    }))
}

fn action(plan: &Action) -> ActionSettings {
    ActionSettings {
        operation: Some(if plan.operation { YesNo::Yes } else { YesNo::No }),
        without_extension: Some(match plan.without_extension {
            WithoutExtension::Act => Extension::Act,
            WithoutExtension::Refuse => Extension::Refuse,
        }),
        approval: Some(match plan.approval {
            Approval::User => Approvals::User,
            Approval::StandingPermission => Approvals::StandingPermission,
        }),
        scope: plan.scope.as_ref().map(text),
        signed_in: Some(At::nowhere(if plan.signed_in { YesNo::Yes } else { YesNo::No })),
        price: Some(Price(plan.price.clone())),
        summary: plan.summary.as_ref().map(text),
        terms: plan.terms.clone().map(At::nowhere),
        done: plan.done.as_ref().map(text),
        steps: Some(At::nowhere(plan.steps.iter().map(step).collect())),
        can_stop_until: plan.can_stop_until.and_then(|index| plan.steps.get(index)).map(|step| text(&step.name)),
        on_partial: Some(match plan.on_partial {
            OnPartial::Report => Partial::Report,
            OnPartial::Undo => Partial::Undo,
        }),
    }
}

fn step(plan: &Step) -> StepSettings {
    StepSettings {
        name: text(&plan.name),
        undo: plan.undo.as_ref().map(text),
        latency: plan.latency.clone().map(Spread),
        fail: Some(Share(plan.fail)),
        phrase: plan.phrase.as_ref().map(text),
    }
}
