//! Compares `src/ops.rs` and each family's `tables.rs` with what `cdna.txt` and `rdna.txt` generate. With
//! `UPDATE_TABLES=1` in the environment, writes them instead.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use ferrowave_gpu::Family;

/// The names of the columns of a family's table.
fn columns(family: Family) -> Vec<&'static str> {
    match family {
        Family::Cdna => family.gpus().iter().map(|gpu| gpu.name()).collect(),
        Family::Rdna => vec!["gfx11", "gfx11.5", "gfx12"],
    }
}

#[test]
fn tables_are_generated_from_the_data() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut families = Vec::new();
    for family in Family::ALL {
        let name = family.name().to_lowercase();
        let path = root.join(format!("{name}.txt"));
        let data = std::fs::read_to_string(path).expect("the data file");
        let data = parse(&data, columns(family));
        check_opcodes_are_unique(&data);
        check_effects_agree(&data);
        let file = format!("src/{name}/tables.rs");
        is_generated(&root.join(file), &rustfmt(&tables(&data, &name)));
        families.push(data);
    }
    is_generated(&root.join("src/ops.rs"), &rustfmt(&operations(&families)));
}

fn is_generated(path: &Path, generated: &str) {
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    if committed == generated {
        return;
    }
    if std::env::var_os("UPDATE_TABLES").is_some() {
        std::fs::write(path, generated).expect("the file can be written");
        return;
    }
    let line = committed
        .lines()
        .zip(generated.lines())
        .position(|(a, b)| a != b)
        .map_or_else(|| "its length".to_string(), |n| format!("line {}", n + 1));
    panic!(
        "{} is not what the tables give, from {line} on; run UPDATE_TABLES=1 cargo test -p ferrowave-isa --test tables",
        path.display()
    );
}

/// The contents of a family's table.
#[derive(Default)]
struct Data {
    columns: Vec<&'static str>,
    encodings: Vec<Encoding>,
    rows: Vec<Row>,
}

struct Encoding {
    name: String,
    /// The section with its rows.
    section: String,
    /// The columns that have it, one bit each.
    columns: u8,
    value: String,
    mask: String,
    /// Name, highest and lowest bit.
    fields: Vec<(String, u8, u8)>,
}

struct Row {
    encoding: String,
    name: String,
    /// The operation: its name, or that of another one with the same semantics.
    operation: String,
    columns: Vec<&'static str>,
    opcodes: Vec<Option<u16>>,
    /// Slot name and type.
    slots: BTreeMap<String, String>,
    /// Flag and value.
    flags: BTreeMap<String, String>,
}

/// A word of a row or section: the key, and the rest.
fn word(word: &str, separator: char) -> (String, String) {
    let (key, value) = word.split_once(separator).unwrap_or((word, ""));
    (key.to_string(), value.to_string())
}

/// The columns that a list names, one bit each.
fn column_mask(columns: &[&str], list: &str) -> u8 {
    let index = |name: &str| {
        let mut columns = columns.iter();
        columns.position(|column| *column == name)
    };
    let bits = list.split(',').map(|name| index(name).expect("a column"));
    bits.fold(0, |mask, bit| mask | 1 << bit)
}

fn parse(text: &str, columns: Vec<&'static str>) -> Data {
    let mut data = Data {
        columns,
        ..Data::default()
    };
    let mut section = "";
    let mut shared = BTreeMap::new();
    for line in text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        if let Some((name, words)) = line.strip_prefix('[').and_then(|l| l.split_once(']')) {
            section = name;
            shared = words.split_whitespace().map(|w| word(w, '=')).collect();
            continue;
        }
        let mut words = line.split_whitespace();
        let mut next = || {
            words
                .next()
                .unwrap_or_else(|| panic!("too short: {line}"))
                .to_string()
        };
        if section == "encodings" {
            let (name, value, mask) = (next(), next(), next());
            let (fields, settings): (Vec<_>, Vec<_>) = words.partition(|w| w.contains(':'));
            let settings: BTreeMap<_, _> = settings.into_iter().map(|w| word(w, '=')).collect();
            let fields = fields.into_iter().map(|w| {
                let (name, bits) = w.split_once('=').expect("field=high:low");
                let (high, low) = bits.split_once(':').expect("high:low");
                let bit = |s: &str| s.parse().expect("a bit number");
                (name.to_string(), bit(high), bit(low))
            });
            let fields = fields.collect();
            data.encodings.push(Encoding {
                section: settings.get("is").unwrap_or(&name).clone(),
                columns: match settings.get("gen") {
                    Some(list) => column_mask(&data.columns, list),
                    None => u8::MAX,
                },
                name,
                value,
                mask,
                fields,
            });
            continue;
        }
        let name = next();
        let opcodes: Vec<_> = next()
            .split(',')
            .map(|w| (w != "-").then(|| w.parse().expect("an opcode")))
            .collect();
        assert!(
            opcodes.len() == 1 || opcodes.len() == data.columns.len(),
            "one opcode or one for each column: {line}"
        );
        let opcodes = match opcodes[..] {
            [all] => vec![all; data.columns.len()],
            _ => opcodes,
        };
        let (flags_of_row, slots): (Vec<_>, _) =
            words.partition(|w| w.contains('=') || !w.contains(':'));
        let slots = slots.into_iter().map(|w| word(w, ':')).collect();
        let mut flags = shared.clone();
        flags.extend(flags_of_row.into_iter().map(|w| word(w, '=')));
        data.rows.push(Row {
            encoding: section.to_string(),
            operation: flags.get("as").unwrap_or(&name).clone(),
            columns: data.columns.clone(),
            name,
            opcodes,
            slots,
            flags,
        });
    }
    data
}

fn check_opcodes_are_unique(data: &Data) {
    let mut seen = BTreeSet::new();
    for row in &data.rows {
        // MAI and VOP3P share an encoding, and so the opcodes.
        let encoding = row.encoding.replace("mai", "vop3p");
        for (gpu, opcode) in row.opcodes.iter().enumerate() {
            let Some(opcode) = opcode else { continue };
            let new = seen.insert((encoding.clone(), gpu, *opcode));
            assert!(
                new,
                "{} takes an opcode that is taken: {opcode} of {encoding}",
                row.name
            );
        }
    }
}

/// Checks that all rows of a mnemonic state the same effects in a column.
fn check_effects_agree(data: &Data) {
    let mut seen = BTreeMap::new();
    for row in &data.rows {
        let effects = effects(row);
        for column in (0..row.opcodes.len()).filter(|&n| row.opcodes[n].is_some()) {
            let first = seen
                .entry((&row.name, column))
                .or_insert_with(|| effects.clone());
            assert_eq!(
                *first, effects,
                "{}: rows state different effects",
                row.name
            );
        }
    }
}

/// The name of a type's constant, its width and its `DataType`.
fn data_type(name: &str) -> (String, u16, &'static str) {
    if name == "mask" {
        return ("MASK".to_string(), 64, "B");
    }
    let (element, count) = match name.rsplit_once('x') {
        Some((element, count)) => (element, count.parse().expect("a count")),
        None => (name, 1),
    };
    let digits = element.find(|c: char| c.is_ascii_digit()).expect("a width");
    let mut width: u16 = element[digits..].parse().expect("a width");
    let (kind, packed) = match &element[..digits] {
        "f" if width == 16 => ("F", "PackedF16"),
        "f" if width == 64 => ("F", "PackedF64"),
        "f" => ("F", "PackedF32"),
        "bf" => {
            width = 16;
            ("Bf16", "PackedBf16")
        }
        "i" if width == 16 => ("I", "PackedI16"),
        "i" => ("I", "I"),
        "u" => ("U", "U"),
        "b" => ("B", "B"),
        other => panic!("unknown kind of type {other}"),
    };
    let ty = if count == 1 { kind } else { packed };
    (name.to_uppercase(), width * count, ty)
}

fn camel(name: &str) -> String {
    name[..1].to_uppercase() + &name[1..]
}

/// Converts digits such as `012` to a bit mask.
fn mask(digits: &str) -> u8 {
    digits.bytes().fold(0, |m, digit| m | 1 << (digit - b'0'))
}

/// The first line of a file that is generated from these tables.
fn head(tables: &str) -> String {
    format!(
        "//! Generated from {tables} by `tests/tables.rs`; edit the former, then run the latter with \
         `UPDATE_TABLES=1`.\n\n"
    )
}

/// Generates `ops.rs`: the operations and the functions that run them.
fn operations(families: &[Data]) -> String {
    let mut out = head("`cdna.txt` and `rdna.txt`");
    let rows: Vec<_> = families.iter().flat_map(|data| &data.rows).collect();
    generate_ops(&rows, &mut out);
    generate_runs(&rows, &mut out);
    out
}

/// Generates `tables.rs`: encodings, operands and effects of the instructions.
fn tables(data: &Data, family: &str) -> String {
    let mut out = head(&format!("`{family}.txt`"));
    let has_sdwa = data.rows.iter().any(|row| row.flags.contains_key("sdwa"));
    let sdwa = match has_sdwa {
        true => "use crate::row::SdwaModifiers::{Float, Ignored, Integer};\n",
        false => "",
    };
    out.push_str(
        "use crate::category::{Category, Effect, Relative};\n\
         use crate::data_type::DataType;\n\
         use crate::ops::Op;\n\
         use crate::ops::run::*;\n",
    );
    out.push_str(sdwa);
    out.push_str(
        "use crate::row::flag::*;\n\
         use crate::row::place::*;\n\
         use crate::wait_counts::Counter;\n\
         use crate::row::{ABSENT, Class, Encoding, Field, Immediate, More, NO, Pattern, ROW, Rate, Row, Slot};\n\n",
    );
    generate_encodings(data, &mut out);
    generate_rows(data, &mut out);
    out
}

fn generate_ops(rows: &[&Row], out: &mut String) {
    let names: BTreeSet<_> = rows.iter().map(|r| r.operation.clone()).collect();
    out.push_str(
        "/// An operation: an instruction's mnemonic without the `_e32`, `_e64`, `_sdwa` and `_dpp` endings.\n\
         #[expect(non_camel_case_types, missing_docs, reason = \"the names are AMD's mnemonics\")]\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\n#[repr(u16)]\n#[rustfmt::skip]\n",
    );
    generate_enum("pub", "Op", &names, out);
    let quoted: Vec<_> = names.iter().map(|name| format!("{name:?}")).collect();
    writeln!(
        out,
        "/// The names of the operations.\n#[rustfmt::skip]\npub(super) static NAMES: [&str; {}] = [\n{}\n];\n",
        names.len(),
        lines(&quoted)
    )
    .expect("a string");
}

/// Generates an enum of many names, several per line.
fn generate_enum(visibility: &str, name: &str, variants: &BTreeSet<String>, out: &mut String) {
    writeln!(out, "{visibility} enum {name} {{\n{}\n}}", lines(variants)).expect("a string");
}

/// Names with a comma after each, several per line.
fn lines<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    let mut lines = Vec::<String>::new();
    for name in names {
        match lines.last_mut() {
            Some(line) if line.len() + name.len() < 116 => write!(line, " {name},"),
            _ => {
                lines.push(String::new());
                let line = lines.last_mut().expect("a line");
                write!(line, "    {name},")
            }
        }
        .expect("a string");
    }
    lines.join("\n")
}

/// Generates the enums that bind operations to the functions of `exec`: one of all functions, and for each function one
/// of its operations.
fn generate_runs(rows: &[&Row], out: &mut String) {
    let mut all = BTreeSet::from(["Refused(&'static str)".to_string()]);
    let mut enums = BTreeMap::<_, BTreeSet<_>>::new();
    for run in rows.iter().filter_map(|row| Run::of(row)) {
        all.insert(format!("{}({})", run.function, run.kind));
        let variants = enums.entry(run.kind).or_default();
        variants.insert(run.variant);
    }
    let mut body = String::new();
    for (name, variants) in &enums {
        body.push_str("#[derive(Clone, Copy, Debug, PartialEq, Eq)]\n#[repr(u8)]\n");
        generate_enum("pub", name, variants, &mut body);
        // A compiled operation holds the number of its `Atomic`, so that `exec` needs the list of all.
        if name == "Atomic" {
            let all: Vec<_> = variants.iter().map(|v| format!("Atomic::{v}")).collect();
            let (count, all) = (all.len(), lines(&all));
            writeln!(body, "pub const ATOMICS: [Atomic; {count}] = [\n{all}\n];")
                .expect("a string");
        }
        body.push('\n');
    }
    body.push_str(
        "/// The function that runs an operation, and which of the function's operations it is.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq)]\n",
    );
    generate_enum("pub", "Run", &all, &mut body);
    let body = body.replace('\n', "\n    ").replace("\n    \n", "\n\n");
    let body = body.trim_end();
    writeln!(
        out,
        "/// For each function of the emulator's `exec`, an enum of the operations that it runs.\n\
         #[expect(missing_docs, reason = \"AMD's guides say what the mnemonics do\")]\n\
         #[expect(non_camel_case_types, reason = \"the names are AMD's mnemonics\")]\n#[rustfmt::skip]\n\
         pub mod run {{\n    {body}\n}}\n"
    )
    .expect("a string");
}

/// The `run=` word of a row.
struct Run {
    /// The variant of the enum of all functions.
    function: String,
    /// The enum of the function's operations, and the variant of this row.
    kind: String,
    variant: String,
}

impl Run {
    fn of(row: &Row) -> Option<Run> {
        let (run, refused) = (row.flags.get("run"), row.flags.get("refused"));
        assert!(
            run.is_some() != refused.is_some(),
            "{} says neither what runs it nor why it is refused, or both",
            row.name
        );
        let (path, variant) = match run?.split_once('(') {
            Some((path, variant)) => (path, variant.strip_suffix(')')),
            None => (run?.as_str(), None),
        };
        let words = |text: &str| text.split(['.', '_']).map(camel).collect::<String>();
        let function = words(path);
        let last = path.rsplit('.').next().unwrap_or(path);
        Some(Run {
            kind: match variant {
                Some(_) => words(last.trim_end_matches(|c: char| c.is_ascii_digit())),
                None => function.clone(),
            },
            variant: variant.map_or(row.operation.clone(), words),
            function,
        })
    }
}

fn generate_encodings(data: &Data, out: &mut String) {
    let mut patterns = Vec::new();
    for Encoding {
        name,
        section,
        columns,
        value,
        mask,
        fields,
    } in &data.encodings
    {
        for (field, high, low) in fields.iter().filter(|f| f.0 != "op") {
            let constant = format!("{name}_{field}").to_uppercase();
            let width = high - low + 1;
            writeln!(
                out,
                "pub(super) const {constant}: Field = Field::new({low}, {width});"
            )
            .expect("a string");
        }
        let Some((_, high, low)) = fields.iter().find(|f| f.0 == "op") else {
            continue;
        };
        let bits = |text: &str| {
            let number =
                u32::from_str_radix(text.trim_start_matches("0x"), 16).expect("hexadecimal");
            format!("0x{:04x}_{:04x}", number >> 16, number & 0xffff)
        };
        // MAI has the pattern of VOP3P; the opcode distinguishes them.
        if name != "mai" {
            patterns.push(format!(
                "    Pattern {{ encoding: Encoding::{}, columns: {columns:#x}, value: {}, mask: {}, \
                 op: Field::new({low}, {}) }},\n",
                camel(section),
                bits(value),
                bits(mask),
                high - low + 1
            ));
        }
    }
    writeln!(
        out,
        "\n/// The bit patterns of the encodings. If several match, the one with the most mask bits applies.\n\
         #[rustfmt::skip]\npub(super) static PATTERNS: [Pattern; {}] = [\n{}];\n",
        patterns.len(),
        patterns.concat()
    )
    .expect("a string");
}

fn generate_rows(data: &Data, out: &mut String) {
    let types: BTreeMap<_, _> = data
        .rows
        .iter()
        .flat_map(|r| r.slots.values())
        .map(|ty| data_type(ty.split('@').next().expect("a type")))
        .map(|(name, bits, ty)| (name, (bits, ty)))
        .collect();
    for (name, (bits, ty)) in types {
        writeln!(
            out,
            "const {name}: Slot = Slot::new({bits}, DataType::{ty});"
        )
        .expect("a string");
    }
    writeln!(
        out,
        "\n/// Every instruction in every encoding.\n#[rustfmt::skip]\npub(super) static ROWS: [Row; {}] = [",
        data.rows.len()
    )
    .expect("a string");
    for row in &data.rows {
        writeln!(out, "    Row {{ {}, ..ROW }},", row_fields(row)).expect("a string");
    }
    out.push_str("];\n");
}

/// The words that state effects.
const EFFECTS: [&str; 16] = [
    "unit",
    "reads",
    "writes",
    "mem",
    "relative",
    "to_lds",
    "takes",
    "counter",
    "unreturned",
    "rate",
    "passes",
    "flops",
    "ops",
    "blocks",
    "run",
    "refused",
];

/// The fields of a row that state its effects.
fn effects(row: &Row) -> Vec<String> {
    let of = |word: &str| row.flags.get(word).map_or("", String::as_str);
    assert_ne!(of("unit"), "", "{} has no unit", row.name);
    let numbers = |digits: &str| -> Vec<u32> {
        let numbers = digits.split([',', ':']);
        numbers
            .map(|n| n.replace('-', "0").parse().expect("a number"))
            .collect()
    };
    let field = |word: &&str| {
        let value = of(word);
        if value.is_empty() {
            return None;
        }
        let list = value.split(',');
        Some(match *word {
            "reads" | "writes" => {
                let places: Vec<_> = list.map(str::to_uppercase).collect();
                format!("{word}: {}", places.join(" | "))
            }
            "counter" | "unreturned" => {
                let counters: Vec<_> = list.map(|c| format!("Counter::{}", camel(c))).collect();
                let field = word.replace("counter", "counters");
                format!("{field}: &[{}]", counters.join(", "))
            }
            "takes" => {
                let [high, low] = numbers(value)[..] else {
                    panic!("{}: takes=high:low", row.name);
                };
                format!("takes: {:#x}", (1_u128 << (high + 1)) - (1 << low))
            }
            "passes" => {
                let passes = numbers(value);
                let of_gpu = |gpu| passes[gpu % passes.len()];
                let passes: Vec<_> = (0..row.columns.len()).map(of_gpu).collect();
                format!("passes: &{passes:?}")
            }
            "unit" => format!("unit: Category::{}", unit(value)),
            "mem" => format!("memory: Effect::{}", camel(value)),
            "relative" => format!("relative: Some(Relative::{})", camel(value)),
            "rate" => format!("rate: Rate::{}", camel(value)),
            "run" => {
                let run = Run::of(row)?;
                let (function, kind, variant) = (run.function, run.kind, run.variant);
                format!("run: Run::{function}({kind}::{variant})")
            }
            "refused" => format!("run: Run::Refused({:?})", value.replace('_', " ")),
            number => format!("{number}: {value}"),
        })
    };
    EFFECTS.iter().filter_map(field).collect()
}

/// The category of a unit.
fn unit(name: &str) -> &'static str {
    match name {
        "salu" => "Scalar",
        "valu" => "Vector",
        "mfma" => "Matrix",
        "smem" => "ScalarMemory",
        "vmem" => "VectorMemory",
        "lds" => "Lds",
        "branch" => "Branch",
        "barrier" => "Barrier",
        "wait" => "Wait",
        "control" => "Control",
        other => panic!("unknown unit {other}"),
    }
}

fn row_fields(row: &Row) -> String {
    let slot = |name: &str| {
        row.slots.get(name).map_or("NO".to_string(), |ty| {
            let (ty, class) = ty.split_once('@').unwrap_or((ty, ""));
            let constant = data_type(ty).0;
            let class = if ty == "mask" { "mask" } else { class };
            match class {
                "" => constant,
                class => format!("{constant}.only(Class::{})", camel(class)),
            }
        })
    };
    let opcodes = match &row.opcodes[..] {
        [first, rest @ ..] if rest.iter().all(|opcode| opcode == first) => {
            format!("{}; {}", first.expect("an opcode"), row.opcodes.len())
        }
        all => all
            .iter()
            .map(|o| o.map_or("ABSENT".to_string(), |o| o.to_string()))
            .collect::<Vec<_>>()
            .join(", "),
    };
    let llvm = row.flags.get("llvm").unwrap_or(&row.name);
    let mut fields = vec![
        format!("op: Op::{}", row.operation),
        format!("llvm_name: \"{llvm}\""),
        format!("encoding: Encoding::{}", camel(&row.encoding)),
        format!("opcodes: &[{opcodes}]"),
    ];
    for name in ["dst", "sdst"] {
        if row.slots.contains_key(name) {
            fields.push(format!("{name}: {}", slot(name)));
        }
    }
    let sources: Vec<_> = (0..5).map(|n| slot(&format!("src{n}"))).collect();
    if sources.iter().any(|s| s != "NO") {
        fields.push(format!("src: [{}]", sources.join(", ")));
    }
    fields.extend(effects(row));
    let mut flags = Vec::new();
    for (flag, value) in &row.flags {
        match (flag.as_str(), value.as_str()) {
            ("llvm" | "as", _) => {}
            (flag, _) if EFFECTS.contains(&flag) => {}
            ("before_gfx942", name) => fields.push(format!("before_gfx942: Some(\"{name}\")")),
            ("mods", v) => fields.push(format!("mods: {}", mask(v))),
            ("hi", v) => fields.push(format!("neg_hi: {}", mask(v))),
            ("modsx", v) => fields.push(format!("mods_ignored: {}", mask(v))),
            ("sel", v) => {
                fields.push(format!("sel: {}", mask(v)));
                if !row.flags.contains_key("selx") {
                    fields.push("sel_ignored: 0".into());
                }
            }
            ("selx", v) => fields.push(format!("sel_ignored: {}", mask(v))),
            ("sdwa", v) => {
                let kinds: Vec<_> = v
                    .bytes()
                    .filter_map(|b| match b {
                        b'f' => Some("Float"),
                        b'i' => Some("Integer"),
                        b'x' => Some("Ignored"),
                        _ => None,
                    })
                    .collect();
                let second = kinds.get(1).unwrap_or(&"Ignored");
                fields.push(format!("sdwa: Some([{}, {second}])", kinds[0]));
                if v.contains('o') {
                    flags.push("OMOD_IN_SDWA");
                }
                if v.contains('w') {
                    flags.push("WHOLE_IN_SDWA");
                }
            }
            ("k", v) => fields.push(format!("k: {v}")),
            ("imm", v) => {
                let kind: String = v.split('_').map(camel).collect();
                fields.push(format!("imm: Immediate::{kind}"));
            }
            ("more", v) => fields.push(format!("more: More::{}", camel(v))),
            ("lds" | "flat_scratch", v) => {
                let mask = column_mask(&row.columns, v);
                fields.push(format!("{flag}: {mask}"));
            }
            ("gds", "always") => flags.push("GDS_ALWAYS"),
            ("gds", _) => flags.push("GDS_NEVER"),
            ("cache", "bare") => flags.push("CACHE_BARE"),
            (flag, "") => flags.push(match flag {
                "e64" => "E64",
                "dpp" => "DPP",
                "clamp" => "CLAMP",
                "omod" => "OMOD",
                "bitop3" => "BITOP3",
                "literal" => "LITERAL",
                "nosel" => "NO_SEL",
                "mix" => "MIX",
                "sparse" => "SPARSE",
                "f8f6f4" => "F8F6F4",
                "neg" => "NEG",
                "two" => "TWO",
                "nooffset" => "NO_OFFSET",
                "returns" => "RETURNS",
                "accumulates" => "ACCUMULATES",
                "keeps" => "KEEPS",
                "compare" => "COMPARE",
                "cross" => "CROSS",
                "dot" => "DOT",
                "gws" => "GWS",
                "glc" => "GLC",
                "no_scc" => "NO_SCC",
                "cache" => "CACHE",
                "quiet" => "QUIET",
                "noclamp" => "NO_CLAMP",
                "swapped" => "SWAPPED",
                "strict" => "STRICT",
                other => panic!("unknown flag {other}"),
            }),
            (flag, value) => panic!("unknown flag {flag}={value}"),
        }
    }
    if !flags.is_empty() {
        fields.push(format!("flags: {}", flags.join(" | ")));
    }
    fields.join(", ")
}

fn rustfmt(source: &str) -> String {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("rustfmt of the pinned toolchain");
    let mut stdin = child.stdin.take().expect("a pipe");
    let source = source.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(source.as_bytes()));
    let output = child.wait_with_output().expect("rustfmt ends");
    writer.join().expect("a thread").expect("rustfmt reads");
    assert!(output.status.success(), "rustfmt refuses the tables");
    String::from_utf8(output.stdout).expect("UTF-8")
}
