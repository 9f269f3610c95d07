//! The JIT's intermediate representation: the values that a region computes, 32 bits per lane.

use std::collections::HashMap;

/// A value's number.
pub(super) type Id = u32;

/// Lanes of 32 bits. Only registers and loads depend on what the region changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    /// A vector register before the region.
    Register(u16),
    /// A scalar register in all lanes.
    Scalar(u16),
    /// A constant in all lanes.
    Constant(u32),
    /// An operation on values; with two sources, the second is there twice.
    Computed(Operator, [Id; 3]),
    /// Lanes of the first value where the mask in a pair of scalar registers is 1, else of the second.
    Selected(u16, [Id; 2]),
    /// Lanes of the second value where the first is not 0, else of the third.
    SelectedBy([Id; 3]),
    /// 1 where the mask in a pair of scalar registers is 1, else 0.
    Flags(u16),
    /// One dword of a load.
    Loaded { load: u32, part: u8 },
}

/// What the host computes from values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Operator {
    /// A copy of a register that the region overwrites before the last use of the value.
    Copy,
    AddF32,
    SubF32,
    MulF32,
    FmaF32,
    Add,
    Sub,
    Mul,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    Min,
    Max,
    MinSigned,
    MaxSigned,
    /// The upper half of the 64-bit product.
    MulHigh,
    /// 1 where a relation holds, else 0.
    Compare(Relation),
}

/// How two values compare: a type, and the predicate of the host's compare instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Relation {
    Unsigned(u8),
    Signed(u8),
    F32(u8),
}

/// An unsigned sum that wrapped around is less than either operand.
pub(super) const BELOW: Operator = Operator::Compare(Relation::Unsigned(1));

impl Operator {
    /// Whether the sources can be swapped.
    pub(super) const fn commutes(self) -> bool {
        !matches!(
            self,
            Operator::Copy
                | Operator::SubF32
                | Operator::Sub
                | Operator::ShiftLeft
                | Operator::ShiftRight
                | Operator::ShiftRightSigned
                | Operator::Compare(_)
        )
    }

    /// Whether it computes with f32: a NaN among the sources gives a NaN, and other results are the host's.
    pub(super) const fn is_float(self) -> bool {
        matches!(
            self,
            Operator::AddF32 | Operator::SubF32 | Operator::MulF32 | Operator::FmaF32
        )
    }
}

/// Where a load finds its lanes' dwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Address {
    /// In LDS, at an address that loads at several offsets may share.
    Lds(Id),
    /// In global memory: the halves of the address, or a 32-bit address and a scalar pair as base; and the
    /// instruction's index into `Context::recent`.
    Global {
        low: Id,
        high: Option<Id>,
        base: Option<u16>,
        offset: i32,
        place: u8,
    },
}

/// A load of consecutive dwords.
#[derive(Clone, Debug)]
pub(super) struct Load {
    pub(super) address: Address,
    /// Byte offset from an address in LDS.
    pub(super) offset: u32,
    /// The dwords. [`Region::needed`] says which of them are used.
    pub(super) results: Vec<Id>,
}

impl Load {
    pub(super) fn bytes(&self) -> u32 {
        4 * self.results.len() as u32
    }

    /// The values that the address is computed from.
    pub(super) fn sources(&self) -> Vec<Id> {
        match self.address {
            Address::Lds(id) => vec![id],
            Address::Global { low, high, .. } => [Some(low), high].into_iter().flatten().collect(),
        }
    }
}

/// What is done next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Compute(Id),
    Load(u32),
}

/// The registers that the region changes, sorted, with their values at its end.
#[derive(Debug)]
pub(super) struct Written {
    /// Vector registers.
    pub(super) registers: Vec<(u16, Id)>,
    /// Pairs of scalar registers, as masks.
    pub(super) masks: Vec<(u16, Id)>,
}

impl Written {
    pub(super) fn all(&self) -> impl Iterator<Item = (u16, Id)> {
        self.registers.iter().chain(&self.masks).copied()
    }
}

/// A region of instructions as values.
#[derive(Debug, Default)]
pub(super) struct Region {
    pub(super) values: Vec<Value>,
    known: HashMap<Value, Id>,
    /// The value that each vector register holds now.
    current: HashMap<u16, Id>,
    /// The flags that each written pair of scalar registers holds as a mask.
    masks: HashMap<u16, Id>,
    pub(super) loads: Vec<Load>,
    /// In the order of the instructions.
    pub(super) steps: Vec<Step>,
}

impl Region {
    /// The number of a value; equal values have one number.
    fn number(&mut self, value: Value) -> Id {
        if let Some(&id) = self.known.get(&value) {
            return id;
        }
        let id = self.values.len() as Id;
        self.values.push(value);
        self.known.insert(value, id);
        match value {
            Value::Computed(..) | Value::Selected(..) | Value::SelectedBy(_) | Value::Flags(_) => {
                self.steps.push(Step::Compute(id));
            }
            Value::Register(_) | Value::Scalar(_) | Value::Constant(_) | Value::Loaded { .. } => {}
        }
        id
    }

    pub(super) fn register(&mut self, register: u16) -> Id {
        match self.current.get(&register) {
            Some(&id) => id,
            None => self.number(Value::Register(register)),
        }
    }

    pub(super) fn scalar(&mut self, register: u16) -> Id {
        self.number(Value::Scalar(register))
    }

    pub(super) fn constant(&mut self, value: u32) -> Id {
        self.number(Value::Constant(value))
    }

    pub(super) fn unary(&mut self, operator: Operator, a: Id) -> Id {
        self.number(Value::Computed(operator, [a; 3]))
    }

    pub(super) fn binary(&mut self, operator: Operator, a: Id, b: Id) -> Id {
        let constant = |id: Id| match self.values[id as usize] {
            Value::Constant(value) => Some(value),
            _ => None,
        };
        // Folds the constants that addresses and shift counts consist of.
        match (operator, constant(a), constant(b)) {
            (Operator::And, Some(a), Some(b)) => return self.constant(a & b),
            (Operator::Sub, Some(a), Some(b)) => return self.constant(a.wrapping_sub(b)),
            (Operator::Add | Operator::ShiftLeft | Operator::ShiftRight, _, Some(0)) => return a,
            _ => {}
        }
        self.number(Value::Computed(operator, [a, b, b]))
    }

    pub(super) fn fma(&mut self, a: Id, b: Id, c: Id) -> Id {
        self.number(Value::Computed(Operator::FmaF32, [a, b, c]))
    }

    pub(super) fn select(&mut self, mask: u16, yes: Id, no: Id) -> Id {
        self.number(match self.masks.get(&mask) {
            Some(&flags) => Value::SelectedBy([flags, yes, no]),
            None => Value::Selected(mask, [yes, no]),
        })
    }

    /// A pair of scalar registers as a mask.
    pub(super) fn flags(&mut self, mask: u16) -> Id {
        match self.masks.get(&mask) {
            Some(&flags) => flags,
            None => self.number(Value::Flags(mask)),
        }
    }

    pub(super) fn set_mask(&mut self, mask: u16, flags: Id) {
        self.masks.insert(mask, flags);
    }

    /// Loads dwords to the registers from `first` on; `offset` is for addresses in LDS.
    pub(super) fn load(&mut self, address: Address, offset: u32, dwords: u8, first: u16) {
        let load = self.loads.len() as u32;
        let results: Vec<Id> = (0..dwords)
            .map(|part| self.number(Value::Loaded { load, part }))
            .collect();
        for (register, &id) in (first..).zip(&results) {
            self.set(register, id);
        }
        self.loads.push(Load {
            address,
            offset,
            results,
        });
        self.steps.push(Step::Load(load));
    }

    pub(super) fn set(&mut self, register: u16, id: Id) {
        self.current.insert(register, id);
    }

    /// Moves a written register's value to another register.
    pub(super) fn rename(&mut self, from: u16, to: u16) {
        if let Some(id) = self.current.remove(&from) {
            self.set(to, id);
        }
    }

    /// Ends the region.
    ///
    /// Registers are written after everything is computed, so a register that gets another's old value needs a copy of
    /// it.
    pub(super) fn finish(&mut self) -> Written {
        let mut registers: Vec<(u16, Id)> = self
            .current
            .iter()
            .map(|(&register, &id)| (register, id))
            .filter(|&(register, id)| self.values[id as usize] != Value::Register(register))
            .collect();
        registers.sort_unstable();
        for (_, id) in &mut registers {
            if matches!(self.values[*id as usize], Value::Register(_)) {
                *id = self.unary(Operator::Copy, *id);
            }
        }
        let mut masks: Vec<(u16, Id)> = self.masks.iter().map(|(&m, &id)| (m, id)).collect();
        masks.sort_unstable();
        Written { registers, masks }
    }

    /// The values that a value is computed from.
    pub(super) fn sources(&self, id: Id) -> &[Id] {
        match &self.values[id as usize] {
            Value::Computed(Operator::FmaF32, sources) => sources,
            Value::Computed(Operator::Copy, sources) => &sources[..1],
            Value::Computed(_, sources) => &sources[..2],
            Value::Selected(_, sources) => sources,
            Value::SelectedBy(sources) => sources,
            Value::Register(_)
            | Value::Scalar(_)
            | Value::Constant(_)
            | Value::Flags(_)
            | Value::Loaded { .. } => &[],
        }
    }

    /// Which values the written registers depend on.
    pub(super) fn needed(&self, written: &Written) -> Vec<bool> {
        let mut needed = vec![false; self.values.len()];
        for (_, id) in written.all() {
            needed[id as usize] = true;
        }
        for step in self.steps.iter().rev() {
            match *step {
                Step::Compute(id) if needed[id as usize] => {
                    for &source in self.sources(id) {
                        needed[source as usize] = true;
                    }
                }
                Step::Compute(_) => {}
                Step::Load(load) => {
                    // The addresses are checked even if the loaded dwords are not used.
                    for source in self.loads[load as usize].sources() {
                        needed[source as usize] = true;
                    }
                }
            }
        }
        needed
    }

    /// A value without the constants and scalars that are added to it in all lanes.
    pub(super) fn root(&self, id: Id) -> Id {
        let is_one = |id: Id| {
            matches!(
                self.values[id as usize],
                Value::Scalar(_) | Value::Constant(_)
            )
        };
        let mut id = id;
        while let Value::Computed(Operator::Add, [a, b, _]) = self.values[id as usize] {
            id = match (is_one(a), is_one(b)) {
                (_, true) => a,
                (true, false) => b,
                (false, false) => return id,
            };
        }
        id
    }
}
