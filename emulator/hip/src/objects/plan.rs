//! Plans: graphs in an executable order.

use std::{collections::HashMap, sync::Arc};

use super::{
    graph::{GRAPHS, Graph, Node},
    operation::{Operation, Origin, Work},
};
use crate::{error::Failure, task::Task};

/// A step of a plan.
#[derive(Clone)]
pub(crate) struct Step {
    /// The node that the step was created from.
    pub(crate) node: Node,
    /// The steps that it depends on; all come before it.
    after: Vec<usize>,
    /// Whether the step runs. A disabled step does nothing.
    pub(crate) enabled: bool,
}

/// A copy of a graph in topological order.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
    /// Steps that no other step depends on.
    last: Vec<usize>,
}

impl Plan {
    /// Creates the plan of a graph. An error if its dependencies have a cycle.
    pub(crate) fn new(graph: &Graph) -> Result<Self, Failure> {
        let mut waiting = graph.nodes().clone();
        for node in &mut waiting {
            // The program may have changed the child graph since the node was added.
            if let Some(child) = GRAPHS.get(node.child) {
                node.operation = Operation::Graph(Arc::new(Plan::new(&child)?));
            }
        }
        let (mut steps, mut places) = (Vec::<Step>::new(), HashMap::new());
        while !waiting.is_empty() {
            // Nodes are kept in the order in which they were added, as far as dependencies allow.
            let ready = |node: &mut Node| {
                let mut dependencies = node.dependencies.iter();
                dependencies.all(|id| places.contains_key(id))
            };
            let next: Vec<Node> = waiting.extract_if(.., ready).collect();
            if next.is_empty() {
                return Err(Failure::value(format_args!(
                    "{} nodes of the graph wait for each other",
                    waiting.len()
                )));
            }
            for node in next {
                places.insert(node.id, steps.len());
                let after = node.dependencies.iter().map(|id| places[id]).collect();
                steps.push(Step {
                    node,
                    after,
                    enabled: true,
                });
            }
        }
        let waited: Vec<_> = steps.iter().flat_map(|step| &step.after).collect();
        let last = (0..steps.len()).filter(|index| !waited.contains(&index));
        Ok(Plan {
            last: last.collect(),
            steps,
        })
    }

    /// Whether another plan has the same steps in the same order, with any parameters.
    pub(crate) fn has_shape_of(&self, other: &Plan) -> bool {
        self.steps.len() == other.steps.len()
            && self
                .steps
                .iter()
                .zip(&other.steps)
                .all(|(step, other)| step.after == other.after)
    }

    /// The node of the first of another plan's steps that depends on other steps than this plan's; 0 if the numbers of steps
    /// differ.
    pub(crate) fn first_difference(&self, other: &Plan) -> usize {
        if self.steps.len() != other.steps.len() {
            return 0;
        }
        let mut both = self.steps.iter().zip(&other.steps);
        both.find(|(step, other)| step.after != other.after)
            .map_or(0, |(_, other)| other.node.id)
    }

    /// Whether another plan has the same shape, and steps of the same kinds.
    pub(crate) fn is_like(&self, other: &Plan) -> bool {
        let mut both = self.steps.iter().zip(&other.steps);
        self.has_shape_of(other) && both.all(|(step, other)| step.node.kind() == other.node.kind())
    }

    /// The step created from a node.
    pub(crate) fn step(&mut self, node: usize) -> Option<&mut Step> {
        self.steps.iter_mut().find(|step| step.node.id == node)
    }
}

impl Work for Plan {
    fn is_pageable(&self) -> bool {
        let mut enabled = self.steps.iter().filter(|step| step.enabled);
        enabled.any(|step| match &step.node.operation {
            Operation::Transfer(transfer) => transfer.is_pageable(),
            Operation::Graph(plan) => plan.is_pageable(),
            _ => false,
        })
    }

    fn submit(&self, dependencies: Vec<Arc<Task>>, origin: &Origin) -> Arc<Task> {
        let mut tasks: Vec<Arc<Task>> = Vec::new();
        for step in &self.steps {
            let after = match step.after.is_empty() {
                true => dependencies.clone(),
                false => step.after.iter().map(|&i| Arc::clone(&tasks[i])).collect(),
            };
            let operation = match step.enabled {
                true => step.node.operation.clone(),
                false => Operation::Nothing,
            };
            tasks.push(operation.submit(after, origin.clone()));
        }
        if tasks.is_empty() {
            return Task::submit(&dependencies, None);
        }
        let last: Vec<_> = self.last.iter().map(|&i| Arc::clone(&tasks[i])).collect();
        Task::submit(&last, None)
    }
}
