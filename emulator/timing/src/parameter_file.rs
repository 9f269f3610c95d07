//! Parameters as a TOML file: what each one means, where its value comes from, and which values are allowed.
//!
//! A file has `version`, `machine` and every parameter. It is read strictly: a file that leaves a parameter out, has an
//! unknown one or a value out of range is an error that names the file and the field.

use std::{
    fmt::{self, Write as _},
    fs::File,
    io::{self, Read as _},
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use ferrowave_gpu::{Family, Product};
use serde::Serialize;
use toml::{Table, Value};

use super::parameters::{NoParameters, Parameters};

/// The version of the format.
const VERSION: i64 = 1;

/// The maximum size of a file in bytes. A file of all parameters has about 4000.
const MOST_BYTES: u64 = 1 << 20;

/// A parameter that a file has.
struct Field {
    name: &'static str,
    /// What it is, with its unit.
    meaning: &'static str,
    /// Where CDNA's values come from.
    cdna: &'static str,
    /// Where RDNA's values come from.
    rdna: &'static str,
    allowed: RangeInclusive<f64>,
    is_whole: bool,
    get: fn(&Parameters) -> f64,
    set: fn(&mut Parameters, f64),
}

/// The type of a parameter.
trait Number: Copy {
    const IS_WHOLE: bool;
    fn to_f64(self) -> f64;
    fn of_f64(value: f64) -> Self;
}

impl Number for f64 {
    const IS_WHOLE: bool = false;

    fn to_f64(self) -> f64 {
        self
    }

    fn of_f64(value: f64) -> Self {
        value
    }
}

impl Number for u64 {
    const IS_WHOLE: bool = true;

    fn to_f64(self) -> f64 {
        self as f64
    }

    fn of_f64(value: f64) -> Self {
        value as u64
    }
}

impl Number for u32 {
    const IS_WHOLE: bool = true;

    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    fn of_f64(value: f64) -> Self {
        value as u32
    }
}

const fn is_whole<T: Number>(_: fn(&Parameters) -> T) -> bool {
    T::IS_WHOLE
}

/// Makes the list of fields. A field of [`Parameters`] that is missing here does not compile.
macro_rules! fields {
    ($($name:ident: $least:literal to $most:literal, $meaning:literal, $cdna:expr, $rdna:expr;)*) => {
        const FIELDS: &[Field] = &[$(Field {
            name: stringify!($name),
            meaning: $meaning,
            cdna: $cdna,
            rdna: $rdna,
            allowed: $least..=$most,
            is_whole: is_whole(|parameters| parameters.$name),
            get: |parameters| parameters.$name.to_f64(),
            set: |parameters, value| parameters.$name = Number::of_f64(value),
        }),*];

        const _: fn(&Parameters) = |parameters| {
            let Parameters {
                machine: _,
                pipeline: _,
                hardware: _,
                start: _,
                $($name: _),*
            } = parameters;
        };
    };
}

const MT4G: &str = "mt4g, «Memory Topology 4 GPUs», reports of MI100, MI210, MI300X (August 2025) and MI350P (September \
                    2026); MI250X has MI210's figure, MI355X MI350P's, which has the same XCDs";

const GLUON: &str = "AMD's Gluon tutorials (ROCm/gfx950-gluon-tutorials): v8_sliceMN, 4.1 to 4.4; docs/lds_throughput.md, \
                     1.2 to 1.6; MI300X and MI350, used for all";

const LLVM: &str = "LLVM's SISchedule.td";

const ACO: &str = "Mesa's ACO, aco_statistics.cpp; the events of AMD's thread traces";

const GPU_BENCHES: &str =
    "gpu-benches (github.com/te42kyfo/gpu-benches), RX 6900 XT: an estimate for RDNA 3 and 4";

const L2_OF_RDNA_2: &str = "as many bytes per cycle for each MiB as gpu-benches measured on RX 6900 XT (4.6 TB/s, 4 MiB, \
                            2.57 GHz): an estimate for RDNA 3 and 4; Radeon 8060S: that of RX 7600, which has 2 MiB, too \
                            (Chips and Cheese, «AMD's RX 7600»: 2.13 TB/s)";

const RX_7900_XT: &str = "a public table of GPU benchmarks, RX 7900 XT; RX 9070 XT and Radeon 8060S: an estimate from it";

const CDNA_S: &str = "that of CDNA: an estimate";

fields! {
    memory_efficiency: 0.01 to 1.0,
        "The share of the memory bandwidth that programs can reach",
        "BabelStream on MI300X (Azure's guide to benchmarks), 4.26 of 5.3 TB/s, used for all; mt4g measured 0.60 (MI100) \
         to 0.75 (MI300X)",
        "a public table of GPU benchmarks, RX 7900 XT: 706 of 800 GB/s; RX 9070 XT: an estimate from it; Radeon 8060S: 221 \
         of 256 GB/s read by memtest_vulkan (github.com/lhl/strix-halo-testing)";
    l1_latency: 1.0 to 1e5,
        "Cycles from a load to its result, if it hits in the vector L1 cache",
        MT4G,
        GPU_BENCHES;
    l2_latency: 1.0 to 1e5, "Cycles from a load to its result, from L2", MT4G, GPU_BENCHES;
    infinity_latency: 1.0 to 1e5,
        "Cycles from a load to its result, from the Infinity Cache; those of memory if there is none",
        "mt4g's reports: MI300X, latency of L2 and its miss penalty; MI355X, that of MI350P, beyond L2 in nanoseconds",
        "Chips and Cheese, «Latency Testing is Hard (RDNA 3 Power Saving)», RX 7900 XTX: 150.3 ns; RX 9070 XT: an \
         estimate from it; Radeon 8060S: as much beyond L2, although Chips and Cheese found a little more («Strix Halo's \
         Memory Subsystem»)";
    memory_latency: 1.0 to 1e5,
        "Cycles from a load to its result, from memory",
        "mt4g's reports of MI100, MI210 and MI300X; MI355X: that of MI350P, beyond L2 in nanoseconds",
        RX_7900_XT;
    scalar_latency: 1.0 to 1e5,
        "Cycles from a scalar load to its result, from the scalar cache",
        MT4G,
        RX_7900_XT;
    lds_latency: 1.0 to 1e5,
        "Cycles from an LDS load to its result, without conflicts",
        MT4G,
        "thread traces of gfx1100 and gfx1200 that tinygrad recorded (extra/sqtt/examples, sync)";
    l2_bytes_per_cycle: 1.0 to 1e6,
        "Read bandwidth of an XCD's L2 in bytes per cycle",
        "mt4g on MI100 and MI350P; MI210: AMD's CDNA 2 white paper, times the share that mt4g reached on MI100, 0.87; \
         MI300X and MI355X: that of MI350P, whose XCDs' L2 is as theirs",
        L2_OF_RDNA_2;
    l2_written_bytes_per_cycle: 1.0 to 1e6,
        "Write bandwidth of an XCD's L2 in bytes per cycle, without reads",
        MT4G,
        "as read: an estimate";
    infinity_bytes_per_second: 0.0 to 1e15,
        "Bandwidth of the Infinity Cache in bytes per second; 0 if there is none",
        "Chips and Cheese, «Testing AMD's Giant MI300X»: 11.9 TB/s; mt4g measured 5.8 TB/s",
        "AMD's slides of RDNA 3, the peak: 5.3 TB/s; RX 9070 XT: as much for each MiB, an estimate; Radeon 8060S: just under \
         1 TB/s (Chips and Cheese, «Strix Halo's Memory Subsystem»)";
    double_cycles: 1.0 to 1024.0,
        "Cycles of an f64 vector instruction",
        "AMD's slides «Introduction to AMD GPU programming with HIP»: half rate on MI100, full rate from MI210 on",
        ACO;
    integer_product_cycles: 1.0 to 1024.0, "Cycles of a 32-bit integer product", LLVM, ACO;
    l1_to_l2_bytes_per_cycle: 1.0 to 1e4,
        "Bandwidth from L1 to L2 in bytes per cycle, for one compute unit",
        "AMD's slides «Introduction to AMD GPU programming with HIP»: 64 bytes per cycle",
        GPU_BENCHES;
    memory_queue: 1.0 to 1e4,
        "Vector memory instructions of a compute unit that may wait for L1",
        GLUON,
        "tinygrad's thread traces of gfx1100 and gfx1201 (`gemm`): a compute unit's 48 loads of 16 lines each issue at once; the \
         most is unknown";
    in_flight_bytes: 64.0 to 1e9,
        "Bytes of lines that L1 may have requested and not received",
        GLUON,
        CDNA_S;
    lds_queue: 1.0 to 1e4,
        "LDS instructions of 16 bytes a lane that a pair of SIMDs may have in flight",
        GLUON,
        CDNA_S;
    lds_bus_bytes_per_cycle: 1.0 to 1e4,
        "Bandwidth between LDS and a pair of SIMDs in bytes per cycle, in each direction",
        GLUON,
        "RDNA 3 ISA guide, 12.1: 32 banks of 4 bytes for a pair of SIMDs";
}

/// Latencies that must not fall from one level of memory to the next.
const LEVELS: [&str; 4] = [
    "l1_latency",
    "l2_latency",
    "infinity_latency",
    "memory_latency",
];

/// A parameter whose value is not that of [`Parameters::of`] its machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Changed {
    /// The parameter.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// The value of [`Parameters::of`].
    pub table: f64,
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} instead of {}", self.name, self.value, self.table)
    }
}

/// Why a file has no parameters.
#[derive(Debug, thiserror::Error)]
#[error("`{}`{problem}", .path.display())]
pub struct ParameterError {
    path: PathBuf,
    problem: Problem,
}

#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(" cannot be read: {0}")]
    Unreadable(io::Error),
    #[error(" has more than {} KiB and is not a file of parameters", MOST_BYTES >> 10)]
    TooLarge,
    #[error(" is not TOML: {}", .0.to_string().trim_end())]
    NotToml(toml::de::Error),
    #[error(": `{0}` is missing; {1}")]
    Missing(String, String),
    #[error(": `{0}` is {1}; {2}")]
    NotAllowed(String, String, String),
    #[error(": `{0}` is not a parameter; known are version, machine, {names}", names = names())]
    Unknown(String),
}

impl Field {
    /// Which values are allowed on a machine, as a sentence.
    fn allowed(&self, machine: Product) -> String {
        let numbers = match self.is_whole {
            true => "whole numbers",
            false => "numbers",
        };
        let range = self.range(machine);
        match range.start() == range.end() {
            true => format!(
                "for {machine} only {} is allowed: {}",
                range.start(),
                self.meaning
            ),
            false => format!(
                "allowed are {numbers} from {} to {}: {}",
                range.start(),
                range.end(),
                self.meaning
            ),
        }
    }

    fn range(&self, machine: Product) -> RangeInclusive<f64> {
        match (self.name, machine.specifications().infinity_bytes) {
            ("infinity_bytes_per_second", 0) => 0.0..=0.0,
            ("infinity_bytes_per_second", _) => 1e9..=*self.allowed.end(),
            _ => self.allowed.clone(),
        }
    }

    fn read(&self, value: &Value, machine: Product) -> Result<f64, Problem> {
        let number = match value {
            Value::Integer(value) => Some(*value as f64),
            Value::Float(value) if !self.is_whole || value.fract() == 0.0 => Some(*value),
            _ => None,
        };
        let number = number.filter(|number| self.range(machine).contains(number));
        number.ok_or_else(|| {
            Problem::NotAllowed(self.name.to_owned(), shown(value), self.allowed(machine))
        })
    }
}

/// A value in an error.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Datetime(_) => "a date".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

fn names() -> String {
    let names: Vec<_> = FIELDS.iter().map(|field| field.name).collect();
    names.join(", ")
}

impl Parameters {
    /// Reads a file of parameters.
    ///
    /// # Errors
    /// If the file cannot be read, is not TOML, or has not exactly the parameters with values that are allowed.
    pub fn read(path: &Path) -> Result<Self, ParameterError> {
        let read = || -> Result<Self, Problem> {
            let mut bytes = Vec::new();
            let file = File::open(path).map_err(Problem::Unreadable)?;
            let mut file = file.take(MOST_BYTES + 1);
            file.read_to_end(&mut bytes).map_err(Problem::Unreadable)?;
            if bytes.len() as u64 > MOST_BYTES {
                return Err(Problem::TooLarge);
            }
            let text = String::from_utf8(bytes)
                .map_err(|error| Problem::Unreadable(io::Error::other(error.utf8_error())))?;
            Self::parse(&text)
        };
        read().map_err(|problem| ParameterError {
            path: path.to_owned(),
            problem,
        })
    }

    fn parse(text: &str) -> Result<Self, Problem> {
        let mut table: Table = text.parse().map_err(Problem::NotToml)?;
        let mut take = |name: &str, allowed: &dyn Fn() -> String| {
            let value = table.remove(name);
            value.ok_or_else(|| Problem::Missing(name.to_owned(), allowed()))
        };
        let only_version = || format!("the version of this format is {VERSION}");
        let version = take("version", &only_version)?;
        if version != Value::Integer(VERSION) {
            let name = "version".to_owned();
            return Err(Problem::NotAllowed(name, shown(&version), only_version()));
        }
        let machines = || {
            let names: Vec<_> = Parameters::MACHINES.map(Product::name).to_vec();
            format!("machines are {}", names.join(", "))
        };
        let machine = take("machine", &machines)?;
        let name = machine.as_str().unwrap_or_default();
        let mut known = Parameters::MACHINES.into_iter();
        let known = known.find(|known| known.name() == name);
        let Some((machine, own)) = known.and_then(|known| Some((known, Parameters::of(known)?)))
        else {
            let name = "machine".to_owned();
            return Err(Problem::NotAllowed(name, shown(&machine), machines()));
        };
        let mut parameters = *own;
        for field in FIELDS {
            let value = take(field.name, &|| field.allowed(machine))?;
            (field.set)(&mut parameters, field.read(&value, machine)?);
        }
        match table.into_iter().next() {
            Some((name, _)) => Err(Problem::Unknown(name)),
            None => parameters.ordered(),
        }
    }

    /// Checks that a level of memory is not faster than the level before it.
    fn ordered(self) -> Result<Self, Problem> {
        let mut levels = FIELDS.iter().filter(|field| LEVELS.contains(&field.name));
        let Some(mut before) = levels.next() else {
            return Ok(self);
        };
        for field in levels {
            let (least, value) = ((before.get)(&self), (field.get)(&self));
            if value < least {
                return Err(Problem::NotAllowed(
                    field.name.to_owned(),
                    value.to_string(),
                    format!("it must be at least `{}`, which is {least}", before.name),
                ));
            }
            before = field;
        }
        Ok(self)
    }

    /// The parameters as a file that [`Self::read`] takes, with meanings and sources as comments.
    pub fn to_toml(&self) -> String {
        let machine = self.machine;
        let own = self.own();
        let mut text = format!(
            "# Parameters of Ferrowave's timing model for {machine}, for `--parameters FILE`.\n\
             # Cycles are those of the engine clock, {:.3} GHz.\n\
             version = {VERSION}\nmachine = \"{machine}\"\n",
            self.hardware.clock_hz() / 1e9
        );
        for field in FIELDS {
            let (value, table) = ((field.get)(self), (field.get)(own));
            let of_family = match machine.gpu().family() {
                Family::Cdna => field.cdna,
                Family::Rdna => field.rdna,
            };
            let source = match value == table {
                true => format!("Source: {of_family}."),
                false => format!("Ferrowave's own value is {table}. Its source: {of_family}."),
            };
            // Debug writes f64 with a fraction, and so that it is read back as the same value.
            let value = match field.is_whole {
                true => value.to_string(),
                false => format!("{value:?}"),
            };
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n# {}.\n# {source}\n{} = {value}\n",
                field.meaning, field.name
            );
        }
        text
    }

    /// The parameters of the same machine in the table.
    fn own(&self) -> &Self {
        // Only machines in the table have parameters.
        Parameters::of(self.machine).unwrap_or(self)
    }

    /// The value of a parameter by its name in a file; `None` if there is none of this name.
    pub fn get(&self, name: &str) -> Option<f64> {
        let field = FIELDS.iter().find(|field| field.name == name)?;
        Some((field.get)(self))
    }

    /// Sets a parameter by its name in a file. A whole number is rounded.
    ///
    /// # Errors
    /// If there is no parameter of this name, or the value is not allowed; the error says which are.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        let field = FIELDS.iter().find(|field| field.name == name);
        let field = field.ok_or_else(|| format!("`{name}` is not a parameter"))?;
        let value = if field.is_whole { value.round() } else { value };
        match field.range(self.machine).contains(&value) {
            true => (field.set)(self, value),
            false => {
                return Err(format!(
                    "`{name}` is {value}; {}",
                    field.allowed(self.machine)
                ));
            }
        }
        Ok(())
    }

    /// Checks what a file would be checked for: that a level of memory is not faster than the level before it.
    ///
    /// # Errors
    /// If one is, with its name.
    pub fn check(&self) -> Result<(), String> {
        let ordered = self.ordered();
        ordered
            .map(|_| ())
            .map_err(|problem| problem.to_string().trim_start_matches(": ").to_owned())
    }

    /// The parameters whose values are not those of [`Parameters::of`] the machine.
    pub fn changed(&self) -> Vec<Changed> {
        let table = self.own();
        let values = FIELDS
            .iter()
            .map(|field| (field.name, (field.get)(self), (field.get)(table)));
        values
            .filter(|(_, value, table)| value != table)
            .map(|(name, value, table)| Changed { name, value, table })
            .collect()
    }
}

impl TryFrom<Product> for Parameters {
    type Error = NoParameters;

    fn try_from(machine: Product) -> Result<Self, NoParameters> {
        Parameters::of(machine)
            .copied()
            .ok_or(NoParameters { machine })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for machine in Parameters::MACHINES {
            let parameters = Parameters::of(machine).expect("a row");
            let read = Parameters::parse(&parameters.to_toml());
            assert_eq!(read.ok().as_ref(), Some(parameters), "{machine}");
            assert_eq!(parameters.changed(), []);
        }
        let slower = Parameters {
            l2_latency: 400,
            ..*Parameters::of(Product::Mi300x).expect("a row")
        };
        assert_eq!(Parameters::parse(&slower.to_toml()).ok(), Some(slower));
        let changed: Vec<_> = slower.changed().iter().map(Changed::to_string).collect();
        assert_eq!(changed, ["l2_latency 400 instead of 288"]);
    }

    /// The error of a file in which one line is replaced.
    fn refused(machine: Product, name: &str, line: &str) -> String {
        let text = Parameters::of(machine).expect("a row").to_toml();
        let lines = text.lines().map(|old| match old.split_once(" = ") {
            Some((found, _)) if found == name => line,
            _ => old,
        });
        let text: Vec<_> = lines.collect();
        let error = Parameters::parse(&text.join("\n")).expect_err(line);
        error.to_string()
    }

    #[test]
    fn each_field_is_required_and_has_a_range() {
        for field in FIELDS {
            let name = field.name;
            let missing = refused(Product::Mi300x, name, "");
            assert!(
                missing.contains(&format!("`{name}` is missing")),
                "{missing}"
            );
            for value in [
                "-1", "-1.0", "nan", "inf", "-inf", "1e300", "\"4\"", "true", "[4]",
            ] {
                let error = refused(Product::Mi300x, name, &format!("{name} = {value}"));
                assert!(error.contains(&format!("`{name}` is ")), "{error}");
                assert!(error.contains("allowed are "), "{error}");
            }
            assert!(field.allowed.start() < field.allowed.end(), "{name}");
        }
    }

    #[test]
    fn values_that_cannot_be_are_named_with_those_that_can() {
        for (machine, name, line, expected) in [
            (
                Product::Mi300x,
                "l1_latency",
                "l1_latency = 0",
                ": `l1_latency` is 0; allowed are whole numbers from 1 to 100000: ",
            ),
            (
                Product::Mi300x,
                "l1_latency",
                "l1_latency = 116.5",
                ": `l1_latency` is 116.5; allowed are whole numbers",
            ),
            (
                Product::Mi300x,
                "l2_latency",
                "l2_latency = 100",
                ": `l2_latency` is 100; it must be at least `l1_latency`, which is 116",
            ),
            (
                Product::Mi300x,
                "infinity_bytes_per_second",
                "infinity_bytes_per_second = 0",
                "is 0; allowed are numbers from 1000000000 to",
            ),
            (
                Product::Mi100,
                "infinity_bytes_per_second",
                "infinity_bytes_per_second = 1e12",
                "for MI100 only 0 is allowed",
            ),
            (
                Product::Mi100,
                "version",
                "version = 2",
                "`version` is 2; the version of this format is 1",
            ),
            (
                Product::Mi100,
                "machine",
                "machine = \"H100\"",
                "`machine` is \"H100\"; machines are MI100,",
            ),
            (
                Product::Mi100,
                "machine",
                "machine = 3",
                "`machine` is 3; machines are",
            ),
            (
                Product::Mi100,
                "machine",
                "l3 = 1\nmachine = \"MI100\"",
                ": `l3` is not a parameter; known are version, machine,",
            ),
            (
                Product::Mi100,
                "machine",
                "[machine]",
                "`machine` is a table",
            ),
            (
                Product::Mi100,
                "machine",
                "machine = MI100",
                " is not TOML: ",
            ),
            (
                Product::Mi100,
                "version",
                "version = 1\nversion = 1",
                " is not TOML: ",
            ),
        ] {
            let error = refused(machine, name, line);
            assert!(error.contains(expected), "{line}: {error}");
        }
    }

    #[test]
    fn files_that_cannot_be_read_are_named() {
        let error = Parameters::read(Path::new("/nowhere/p.toml")).expect_err("no such file");
        assert!(
            error
                .to_string()
                .starts_with("`/nowhere/p.toml` cannot be read: "),
            "{error}"
        );
        #[cfg(target_os = "linux")]
        {
            let error = Parameters::read(Path::new("/dev/zero")).expect_err("it has no end");
            assert!(error.to_string().contains("more than 1024 KiB"), "{error}");
        }
    }
}
