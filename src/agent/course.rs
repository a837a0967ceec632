//! A journey from its first step to its end.

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use smol_str::{SmolStr, format_smolstr};

use super::{
    JourneyEnd, Person, back_off, dealing::Dealing, discovery, discovery::Site, errand::NotSent, person::Home,
    process::Process, session::TokenDesk, shared::Shared, user::Surface, view::Seen, wish::Wish,
};
use crate::{
    history::record::Outcome,
    plan::{AskUser, By, Confirm, Distribution, Journey, JourneyStep, Plan},
    protocol::ErrorCode,
    world::{Draw, Moment},
};

/// Goes on, or ends the journey.
pub(super) type Flow<T = ()> = ControlFlow<JourneyEnd, T>;

/// Which run of a journey this is.
#[derive(Debug, Clone)]
pub struct JourneyRun {
    /// The User's wish: unique in the run.
    pub intent: SmolStr,
    /// The journey's number among those of its User; names its process `a{user}/{number}`.
    pub number: u64,
    /// The Company that it goes to; `None` draws one.
    pub company: Option<SmolStr>,
    /// When it should start.
    pub due: Moment,
    /// For how long after that it was held back since as many of its kind as may be were under way.
    pub held: Duration,
}

/// Takes a User through a journey; returns when it is at its end.
///
/// Its requests, approvals and Sessions are in the history then, and its requests, operations and recoveries in the meter;
/// how the journey ended is for the caller to count. It may be dropped at any time: what was sent stays sent.
pub async fn run_journey(person: &Arc<Person>, journey: &Journey, run: JourneyRun) -> JourneyEnd {
    let process = Process::new(format_smolstr!("a{}/{}", person.number(), run.number), run.due).held_back(run.held);
    let mut course = Course { person, run, process, proposals: 0, at: None };
    let end = course.take(&journey.steps).await;
    if matches!(journey.steps.last(), Some(JourneyStep::SignOut)) {
        course.sign_out().await;
    }
    match end {
        ControlFlow::Break(end) => end,
        ControlFlow::Continue(()) => JourneyEnd::LeftOpen,
    }
}

struct Course<'a> {
    person: &'a Arc<Person>,
    run: JourneyRun,
    process: Process,
    proposals: u64,
    /// Where it proposed last, and who its User is there.
    at: Option<(Arc<Home>, Arc<Site>)>,
}

impl Course<'_> {
    fn shared(&self) -> &Shared {
        &self.person.shared
    }

    async fn take(&mut self, steps: &[JourneyStep]) -> Flow {
        let mut dealing: Option<Dealing> = None;
        for (place, step) in steps.iter().enumerate() {
            let later = steps.get(place + 1..).unwrap_or_default();
            if let JourneyStep::Propose { at, action } = step {
                if let Some(mut last) = dealing.take() {
                    last.close(&mut self.process).await?;
                }
                dealing = Some(self.propose(at, action, steps).await?);
                continue;
            }
            if let JourneyStep::Later { by } = step {
                self.shared().world.move_wall(*by);
                continue;
            }
            if matches!(step, JourneyStep::SignOut) {
                if !later.is_empty() {
                    self.sign_out().await; // as the last step it is taken after the journey's end
                }
                continue;
            }
            match &mut dealing {
                Some(dealing) => self.step(dealing, step, later).await?,
                None => self.wait(step, place).await,
            }
        }
        match dealing {
            Some(mut dealing) => dealing.close(&mut self.process).await,
            None => Flow::Continue(()),
        }
    }

    /// One step with an operation at hand.
    async fn step(&mut self, dealing: &mut Dealing, step: &JourneyStep, later: &[JourneyStep]) -> Flow {
        let process = &mut self.process;
        match step {
            JourneyStep::Propose { .. } | JourneyStep::Later { .. } | JourneyStep::SignOut => Flow::Continue(()),
            JourneyStep::AskUser(ask) => match next_confirm(later) {
                // Only what the permission does not cover is asked.
                Some(Confirm { by: By::StandingPermission { up_to }, .. }) if dealing.is_covered(up_to) => {
                    Flow::Continue(())
                }
                _ => dealing.ask(process, ask).await,
            },
            JourneyStep::Confirm(confirm) => {
                let cancel = match later.first() {
                    Some(JourneyStep::Cancel { after }) => Some(after),
                    _ => None,
                };
                dealing.confirm(process, confirm, cancel).await
            }
            JourneyStep::Track => dealing.track(process).await,
            JourneyStep::Cancel { after } => dealing.cancel_after(process, after).await,
            JourneyStep::Wait { time } => dealing.wait(process, time).await,
            JourneyStep::WalkAway => Flow::Break(JourneyEnd::WalkedAway),
        }
    }

    /// Signs the User out where she proposed last.
    async fn sign_out(&mut self) {
        let Some((home, site)) = &self.at else { return };
        let desk = TokenDesk { person: self.person, home, site };
        if Box::pin(desk.sign_out(&mut self.process)).await.is_err() {
            tracing::debug!("an Account Token could not be revoked: no key");
        }
    }

    /// A step before there is an operation: only waiting makes sense then.
    async fn wait(&mut self, step: &JourneyStep, place: usize) {
        if let JourneyStep::Wait { time } = step {
            let world = &self.shared().world;
            let due = world.now() + sample(self.shared(), time, "wait", &self.run.intent, place as u64);
            world.sleep_until(due).await;
            self.process.next_due(due);
        }
    }

    /// Asks for the action until there is an answer.
    async fn propose(&mut self, at: &str, action: &SmolStr, steps: &[JourneyStep]) -> Flow<Dealing> {
        let wish = match self.wish(at, action).await {
            Ok(wish) => Arc::new(wish),
            Err(end) => return Flow::Break(end),
        };
        self.note_permissions(&wish, steps);
        let seen = propose(&wish, &mut self.process).await?;
        if !self.person.operator.lists_operations() {
            return Flow::Break(JourneyEnd::Unlisted);
        }
        let ask = steps.iter().find_map(|step| if let JourneyStep::AskUser(ask) = step { Some(ask) } else { None });
        match Dealing::new(wish, seen, ask.cloned(), &self.process.name) {
            Some(dealing) => Flow::Continue(dealing),
            None => Flow::Break(JourneyEnd::NotOffered),
        }
    }

    /// The wish of this journey, at one of the Companies that the scenario calls so.
    async fn wish(&mut self, at: &str, action: &SmolStr) -> Result<Wish, JourneyEnd> {
        self.proposals += 1;
        let intent = match self.proposals {
            1 => self.run.intent.clone(),
            more => format_smolstr!("{}.{more}", self.run.intent),
        };
        let person = self.person;
        let shared = &person.shared;
        let company = match &self.run.company {
            Some(name) => shared.plan.companies.iter().position(|company| company.name == *name),
            None => destination(&shared.plan, &intent, at),
        };
        let company = company.ok_or(JourneyEnd::NotOffered)?;
        let site = discovery::site(shared, &mut self.process, company).await;
        let site = site.map_err(|_| JourneyEnd::NotDiscovered)?;
        let home = person.home(company).map_err(|error| {
            tracing::error!("a User's key cannot be made: {error}");
            JourneyEnd::GaveUp
        })?;
        self.at = Some((Arc::clone(&home), Arc::clone(&site)));
        Wish::new(Arc::clone(person), home, site, intent, action.clone()).ok_or(JourneyEnd::NotOffered)
    }

    /// Records the standing permissions that this journey's confirms rest on, as given ahead.
    fn note_permissions(&self, wish: &Wish, steps: &[JourneyStep]) {
        for step in steps {
            if let JourneyStep::Confirm(Confirm { by: By::StandingPermission { up_to }, .. }) = step
                && wish.home.permit(&wish.kind, up_to)
            {
                let surface = Surface { world: &self.shared().world, user: self.person.user() };
                surface.standing(&wish.site.company, &wish.kind, up_to);
            }
        }
    }
}

/// The place in the plan of the Company that a wish goes to, drawn among those that the scenario calls so.
#[must_use]
pub fn destination(plan: &Plan, intent: &str, at: &str) -> Option<usize> {
    let companies = plan.companies.iter().enumerate();
    let there: Vec<usize> = companies.filter(|(_, company)| company.group == at).map(|(place, _)| place).collect();
    let drawn = Draw::new(plan.seed, "company", intent, 0).below(there.len() as u64);
    usize::try_from(drawn).ok().and_then(|drawn| there.get(drawn).copied())
}

/// The confirm that comes before anything is proposed anew.
fn next_confirm(later: &[JourneyStep]) -> Option<&Confirm> {
    let same_operation = later.iter().take_while(|step| !matches!(step, JourneyStep::Propose { .. }));
    same_operation.into_iter().find_map(|step| match step {
        JourneyStep::Confirm(confirm) => Some(confirm),
        _ => None,
    })
}

/// Asks for an action in the same words until an operation comes, or an answer that says there will be none.
pub(super) async fn propose(wish: &Wish, process: &mut Process) -> Flow<Arc<Seen>> {
    let shared = &wish.person.shared;
    let mut failures = 0;
    loop {
        let ended = match wish.propose(process).await {
            Ok(ended) => ended,
            Err(NotSent::Withheld | NotSent::NoToken) => return Flow::Break(JourneyEnd::Refused),
            Err(NotSent::NotSignedIn) => return Flow::Break(JourneyEnd::NotSignedIn),
            Err(NotSent::GaveUp) => return Flow::Break(JourneyEnd::GaveUp),
        };
        if !ended.may_pass() {
            let (outcome, code) = (ended.outcome, ended.code);
            return match ended.into_seen() {
                Some(seen) => Flow::Continue(seen),
                None if outcome == Outcome::Done => Flow::Break(JourneyEnd::DoneAtOnce),
                None if code == Some(ErrorCode::ExtensionRequired) => Flow::Break(JourneyEnd::ExtensionRequired),
                None => Flow::Break(JourneyEnd::Refused),
            };
        }
        failures += 1;
        if shared.plan.swarm.retry.tries.is_some_and(|most| failures >= most) {
            return Flow::Break(JourneyEnd::GaveUp);
        }
        let draw = shared.world.draw("back-off-propose", &wish.intent, failures.into());
        let wait = back_off::wait(&shared.plan.swarm.retry, failures, draw);
        let due = shared.world.now() + wait.max(ended.retry_after.unwrap_or_default());
        shared.world.sleep_until(due).await;
        process.next_due(due);
    }
}

/// A duration drawn for a step of a journey.
pub(super) fn sample(
    shared: &Shared,
    time: &Distribution,
    purpose: &str,
    intent: &str,
    attempt: u64,
) -> std::time::Duration {
    time.sample(shared.world.draw(purpose, intent, attempt))
}

/// The settings of a journey's question to the User, for rounds after the first.
pub(super) type Question = Option<AskUser>;
