//! What of a scenario cannot be had at a target, and the notes that say so.

use smol_str::SmolStr;

use crate::history::record::Purpose;
use crate::plan::{
    CompanyPlan, Fault, Journey, JourneyStep, Network, Partition, Plan, Proposals, Reach, ReachCounter, Strikes,
    SwarmPlan, Target,
};

/// What is dropped on the way.
pub(super) struct Drops<'a> {
    pub(super) target: &'a Target,
    pub(super) notes: Vec<String>,
}

impl Drops<'_> {
    /// The faults that the Agents' end of the wire can make.
    pub(super) fn faults(&mut self, faults: &[Fault]) -> Vec<Fault> {
        faults.iter().filter_map(|fault| self.fault(fault)).collect()
    }

    fn fault(&mut self, fault: &Fault) -> Option<Fault> {
        let (id, word, name) = (&fault.id, fault.kind.word(), &self.target.name);
        let reason = match fault.kind.strikes() {
            Strikes::Company => "it stops a Company that is simulated",
            Strikes::Steps => "it strikes a backend that is simulated",
            Strikes::Requests if fault.on == [Purpose::Keys] => "no Agent sends requests for `keys`",
            Strikes::Requests => {
                let on = fault.on.iter().copied().filter(|purpose| *purpose != Purpose::Keys).collect();
                let at = fault.at.as_ref().map(|_| name.clone());
                return Some(Fault { on, at, ..fault.clone() });
            }
        };
        self.notes.push(format!("fault {id} (`{word}`) is dropped: {reason}"));
        None
    }

    /// The network, all of which the Agents' end of the wire can make; its partitions cut the target off.
    pub(super) fn network(&self, network: &Network) -> Network {
        let at = |partition: &Partition| partition.at.as_ref().map(|_| self.target.name.clone());
        let partitions = network.partitions.iter();
        let partitions = partitions.map(|partition| Partition { at: at(partition), ..partition.clone() }).collect();
        Network { partitions, ..network.clone() }
    }

    /// The minimums that can still be reached.
    pub(super) fn reach(&mut self, reach: &[Reach], faults: &[Fault], network: &Network) -> Vec<Reach> {
        let keeps = |minimum: &Reach| match &minimum.counter {
            ReachCounter::Faults(kind) => network.can(kind) || faults.iter().any(|fault| fault.kind.word() == kind),
            ReachCounter::Crashes(_) => false,
            ReachCounter::TermsChanged => self.target.hooks.revise.is_some(),
            ReachCounter::Confirms | ReachCounter::Finals | ReachCounter::FinalsOf(_) | ReachCounter::Recoveries => {
                true
            }
        };
        let (kept, dropped): (Vec<&Reach>, Vec<&Reach>) = reach.iter().partition(|minimum| keeps(minimum));
        for minimum in dropped {
            let reason = match minimum.counter {
                ReachCounter::TermsChanged => format!("`{}` has no hook `revise`", self.target.name),
                _ => "no fault that is left does that".to_owned(),
            };
            self.notes.push(format!("the minimum `{}` is dropped: {reason}", minimum.text));
        }
        kept.into_iter().cloned().collect()
    }

    /// How proposals change: as at the first group that Users go to. What else is said of a Company is the target's own.
    pub(super) fn proposals(&mut self, plan: &Plan) -> Option<Proposals> {
        let visited: Vec<&CompanyPlan> = groups_visited(plan);
        let first = visited.first().copied().or(plan.companies.first())?;
        let chances = |company: &CompanyPlan| {
            let proposals = &company.proposals;
            (proposals.revise_before_approval, proposals.revise_during_confirm)
        };
        let name = &self.target.name;
        if visited.iter().any(|company| company.capacity.is_some()) {
            self.notes.push(format!("`capacity` is dropped: how much `{name}` can do at once is its own"));
        }
        if self.target.hooks.revise.is_none() {
            if visited.iter().any(|company| chances(company) != (0.0, 0.0)) {
                self.notes.push(format!(
                    "`proposals.revise` is dropped: `{name}` has no hook `revise`, so terms change as it likes"
                ));
            }
            let proposals = first.proposals.clone();
            return Some(Proposals { revise_before_approval: 0.0, revise_during_confirm: 0.0, ..proposals });
        }
        if visited.iter().any(|company| chances(company) != chances(first)) {
            self.notes.push(format!("terms change at `{name}` as often as at `{}`, the first group", first.group));
        }
        Some(first.proposals.clone())
    }

    /// The Agents, as the target knows them.
    pub(super) fn swarm(&mut self, swarm: &SwarmPlan) -> SwarmPlan {
        let mut swarm = swarm.clone();
        if let Some(mode) = self.target.session_mode {
            swarm.session_mode = mode;
        }
        if let Some(operator) = &self.target.operator {
            let without = u32::from(!operator.lists_operations);
            if swarm.operators > 1 || swarm.operators_without_extension != without {
                let client_id = &operator.client_id;
                self.notes
                    .push(format!("all Users belong to one operator: `{}` knows `{client_id}`", self.target.name));
            }
            swarm.operators = 1;
            swarm.operators_without_extension = without;
        }
        swarm
    }

    /// What journeys do that the target may not offer.
    pub(super) fn note_journeys(&mut self, journeys: &[Journey]) {
        let target = &self.target.name;
        for journey in journeys {
            let mut changes = true;
            let mut action_name = SmolStr::default();
            for step in &journey.steps {
                match step {
                    JourneyStep::Propose { action, .. } => {
                        changes = self.target.actions.get(action).is_none_or(|action| action.change.is_some());
                        action_name = action.clone();
                    }
                    JourneyStep::AskUser(ask) if ask.other_terms > 0.0 && !changes => self.notes.push(format!(
                        "nobody gets other terms in journey `{}`: `{action_name}` of `{target}` has no `change`",
                        journey.name
                    )),
                    JourneyStep::Confirm(confirm) if confirm.around_expiry.is_some() => self.notes.push(format!(
                        "journey `{}` confirms around `expires_at`: how long proposals live is up to `{target}`",
                        journey.name
                    )),
                    _ => {}
                }
            }
        }
    }
}

/// A Company of each group that a journey goes to, in the scenario's order.
fn groups_visited(plan: &Plan) -> Vec<&CompanyPlan> {
    let visited = |group: &SmolStr| {
        let journeys = plan.journeys.iter().filter(|journey| journey.weight > 0);
        journeys
            .flat_map(|journey| &journey.steps)
            .any(|step| matches!(step, JourneyStep::Propose { at, .. } if at == group))
    };
    let mut companies: Vec<&CompanyPlan> = plan.companies.iter().filter(|company| visited(&company.group)).collect();
    companies.dedup_by(|next, last| next.group == last.group);
    companies
}
