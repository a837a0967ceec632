//! Agents, journeys and load as a file has them.

use super::text;
use crate::plan::{
    Arrivals, AskUser, By, Confirm, Journey, JourneyStep, ListedJourney, Load, LoadModel, Network, Partition,
    SwarmPlan, WhenFull,
};
use crate::protocol::SessionMode;
use crate::scenario::raw::{
    AgentSettings, AgentStageSettings, ArrivalsWord, AskUserSettings, ByChoice, CancelSettings, ClosedSettings,
    ConfirmSettings, JourneySettings, JourneyStepChoice, ListedJourneySettings, ListedSettings, LoadChoice,
    NetworkSettings, OpenSettings, PartitionSettings, ProposeSettings, RateStageSettings, RetrySettings,
    SessionModeWord, StandingPermissionSettings, TrackSettings, UntilWord, WhenFullWord,
};
use crate::scenario::value::{AgentsText, At, MoneyText, RateText, Share, Spread, Time, WindowText, Word};

pub(super) fn agents(plan: &SwarmPlan) -> AgentSettings {
    AgentSettings {
        operators: Some(At::nowhere(plan.operators)),
        without_extension: Some(At::nowhere(plan.operators_without_extension)),
        users: Some(At::nowhere(plan.users)),
        session_mode: Some(At::nowhere(match plan.session_mode {
            SessionMode::Dpop01 => SessionModeWord::Dpop01,
            SessionMode::Dpop02 => SessionModeWord::Dpop02,
        })),
        operations_version: Some(text(&plan.operations_version)),
        request_timeout: Some(At::nowhere(Time(plan.request_timeout))),
        retry: Some(RetrySettings {
            first: Some(At::nowhere(Time(plan.retry.first))),
            factor: Some(At::nowhere(plan.retry.factor)),
            jitter: Some(Share(plan.retry.jitter)),
            longest: Some(At::nowhere(Time(plan.retry.longest))),
            tries: plan.retry.tries.map(At::nowhere),
        }),
        scopes: plan.scopes.as_ref().map(|scopes| scopes.iter().map(ToString::to_string).collect()),
        defects: Some(plan.defects.iter().map(|defect| At::nowhere(Word(defect))).collect()),
    }
}

pub(super) fn journey(plan: &Journey) -> (At<String>, JourneySettings) {
    let steps = plan.steps.iter().map(|step| At::nowhere(journey_step(step))).collect();
    let settings = JourneySettings {
        weight: Some(At::nowhere(plan.weight)),
        in_flight: plan.in_flight.map(At::nowhere),
        steps: At::nowhere(steps),
    };
    (text(&plan.name), settings)
}

fn journey_step(plan: &JourneyStep) -> JourneyStepChoice {
    match plan {
        JourneyStep::Propose { at, action } => {
            JourneyStepChoice::Propose(ProposeSettings { at: text(at), action: text(action) })
        }
        JourneyStep::AskUser(plan) => JourneyStepChoice::AskUser(ask_user(plan)),
        JourneyStep::Confirm(plan) => JourneyStepChoice::Confirm(confirm(plan)),
        JourneyStep::Track => JourneyStepChoice::Track(TrackSettings { until: Some(UntilWord::Final) }),
        JourneyStep::Cancel { after } => {
            JourneyStepChoice::Cancel(CancelSettings { after: Some(Spread(after.clone())) })
        }
        JourneyStep::Wait { time } => JourneyStepChoice::Wait(Spread(time.clone())),
        JourneyStep::Later { by } => JourneyStepChoice::Later(At::nowhere(Time(*by))),
        JourneyStep::SignOut => JourneyStepChoice::SignOut,
        JourneyStep::WalkAway => JourneyStepChoice::WalkAway,
    }
}

fn ask_user(plan: &AskUser) -> AskUserSettings {
    let share = |share: f64| Some(At::nowhere(Share(share)));
    AskUserSettings {
        approve: share(plan.approve),
        decline: share(plan.decline),
        other_terms: share(plan.other_terms),
        withdraw: Some(Share(plan.withdraw)),
        withdraw_after: Some(Spread(plan.withdraw_after.clone())),
        after: Some(Spread(plan.after.clone())),
    }
}

fn confirm(plan: &Confirm) -> ConfirmSettings {
    ConfirmSettings {
        copies: Some(At::nowhere(plan.copies)),
        by: Some(At::nowhere(match &plan.by {
            By::User => ByChoice::User,
            By::StandingPermission { up_to } => {
                ByChoice::StandingPermission(StandingPermissionSettings { up_to: MoneyText(up_to.clone()) })
            }
        })),
        around_expiry: plan.around_expiry.map(Time),
    }
}

pub(super) fn network(plan: &Network) -> NetworkSettings {
    let partitions = plan.partitions.iter().map(|partition| At::nowhere(self::partition(partition)));
    NetworkSettings {
        latency: Some(Spread(plan.latency.clone())),
        loss: Some(At::nowhere(Share(plan.loss))),
        duplicate: Some(At::nowhere(Share(plan.duplicate))),
        partitions: Some(partitions.collect()),
    }
}

fn partition(plan: &Partition) -> PartitionSettings {
    PartitionSettings {
        at: plan.at.as_ref().map(text),
        direction: Some(Word(plan.direction)),
        during: At::nowhere(WindowText(plan.during)),
    }
}

pub(super) fn load(plan: &Load) -> LoadChoice {
    let warm_up = Some(At::nowhere(Time(plan.warm_up)));
    let operations = plan.operations.map(At::nowhere);
    match &plan.model {
        LoadModel::Closed { stages, think } => {
            let stages = stages.iter().map(|stage| AgentStageSettings {
                agents: AgentsText((stage.from, stage.to)),
                r#for: At::nowhere(Time(stage.time)),
            });
            LoadChoice::Closed(ClosedSettings {
                agents: None,
                stages: Some(At::nowhere(stages.collect())),
                think: Some(Spread(think.clone())),
                warm_up,
                r#for: None,
                operations,
            })
        }
        LoadModel::Open { arrivals, stages, in_flight, when_full } => {
            let stages = stages.iter().map(|stage| RateStageSettings {
                rate: RateText((stage.from, stage.to)),
                r#for: At::nowhere(Time(stage.time)),
            });
            LoadChoice::Open(OpenSettings {
                arrivals: Some(match arrivals {
                    Arrivals::Constant => ArrivalsWord::Constant,
                    Arrivals::Poisson => ArrivalsWord::Poisson,
                }),
                rate: None,
                stages: Some(At::nowhere(stages.collect())),
                warm_up,
                in_flight: Some(At::nowhere(*in_flight)),
                when_full: Some(match when_full {
                    WhenFull::Queue => WhenFullWord::Queue,
                    WhenFull::Skip => WhenFullWord::Skip,
                }),
                r#for: None,
                operations,
            })
        }
        LoadModel::Listed { journeys, time } => LoadChoice::Listed(ListedSettings {
            journeys: At::nowhere(journeys.iter().map(|journey| At::nowhere(listed(journey))).collect()),
            warm_up,
            r#for: At::nowhere(Time(*time)),
            operations,
        }),
    }
}

fn listed(plan: &ListedJourney) -> ListedJourneySettings {
    ListedJourneySettings {
        journey: text(&plan.journey),
        intent: Some(text(&plan.intent)),
        user: At::nowhere(plan.user),
        number: Some(At::nowhere(plan.number)),
        company: plan.company.as_ref().map(text),
        at: At::nowhere(Time(plan.at)),
    }
}
