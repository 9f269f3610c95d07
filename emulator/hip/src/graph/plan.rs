//! A graph in an order in which it can be run.

use std::{collections::HashMap, sync::Arc};

use super::{Graph, Node};
use crate::{
    error::Failure,
    operation::{Operation, Origin},
    task::Task,
};

/// A step of a plan.
#[derive(Clone)]
pub(super) struct Step {
    /// The node that it was made from.
    pub(super) node: Node,
    /// The steps that it waits for, all before it.
    after: Vec<usize>,
    /// Whether it does anything.
    pub(super) enabled: bool,
}

/// A graph as it was, each node after those that it waits for.
#[derive(Clone)]
pub(crate) struct Plan {
    pub(super) steps: Vec<Step>,
    /// Steps that no other waits for.
    last: Vec<usize>,
}

impl Plan {
    /// A plan of a graph. An error if nodes wait for each other in a circle.
    pub(super) fn new(graph: &Graph) -> Result<Self, Failure> {
        let mut waiting = graph.nodes().clone();
        let (mut steps, mut places) = (Vec::<Step>::new(), HashMap::new());
        while !waiting.is_empty() {
            // Nodes come in the order in which they were added, as far as dependencies allow.
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

    /// Whether another has the same steps in the same order, whatever their parameters.
    pub(super) fn has_shape_of(&self, other: &Plan) -> bool {
        self.steps.len() == other.steps.len()
            && self
                .steps
                .iter()
                .zip(&other.steps)
                .all(|(step, other)| step.after == other.after)
    }

    /// The step that was made from a node.
    pub(super) fn step(&mut self, node: usize) -> Option<&mut Step> {
        self.steps.iter_mut().find(|step| step.node.id == node)
    }

    /// Makes tasks of it that wait for others, and returns one that is over when all are.
    pub(crate) fn submit(&self, dependencies: Vec<Arc<Task>>, origin: &Origin) -> Arc<Task> {
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
