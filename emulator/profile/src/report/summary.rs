//! The totals of a profile as rows of a table, for text and HTML.

use super::{Profile, Totals, totals::ratio};

/// A name, its value and a note.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) note: String,
    /// Whether it is a part of the row before.
    pub(super) is_part: bool,
}

/// Text after the kernel's name: GPU, launches, workgroups, waves.
pub(super) fn extent(profile: &Profile) -> String {
    format!(
        "on {}: {}, {}, {}",
        profile.gpu,
        counted(profile.launches, "launch", "launches"),
        counted(profile.workgroups, "workgroup", "workgroups"),
        counted(profile.waves, "wave", "waves"),
    )
}

/// The rows of a profile, without those that do not apply to the kernel.
pub(super) fn rows(profile: &Profile) -> Vec<Row> {
    let totals = profile.totals();
    let mut rows = Rows::default();
    rows.instructions(&totals, profile.wave_size);
    rows.operations(&totals);
    rows.memory(&totals);
    rows.resources(profile);
    rows.0
}

#[derive(Default)]
struct Rows(Vec<Row>);

impl Rows {
    fn add(&mut self, name: &str, value: impl ToString, note: impl Into<String>) {
        self.0.push(Row {
            name: name.to_owned(),
            value: value.to_string(),
            note: note.into(),
            is_part: false,
        });
    }

    fn instructions(&mut self, totals: &Totals, size: u32) {
        let all = totals.wave_instructions;
        self.add("wave-instructions", grouped(all), "");
        for class in &totals.classes {
            if class.wave_instructions > 0 {
                let share = percent(ratio(class.wave_instructions, all));
                self.add(class.name, grouped(class.wave_instructions), share);
                if let Some(row) = self.0.last_mut() {
                    row.is_part = true;
                }
            }
        }
        if let Some(share) = ratio(totals.active_lanes, totals.lanes) {
            let note = match totals.divergent {
                0 => format!("of {size} on average; none diverged"),
                some => format!("of {size} on average; {} diverged", grouped(some)),
            };
            self.add(
                "active lanes",
                format!("{:.1}", f64::from(size) * share),
                note,
            );
        }
        if totals.branches > 0 {
            let note = format!("{} taken", grouped(totals.branches_taken));
            self.add("branches", grouped(totals.branches), note);
        }
    }

    fn operations(&mut self, totals: &Totals) {
        let kinds = [
            ("FLOPs", totals.flops, "on the vector unit"),
            ("matrix FLOPs", totals.matrix_flops, "on matrix cores"),
            (
                "integer operations",
                totals.integer_operations,
                "in dot products",
            ),
            (
                "matrix integer operations",
                totals.matrix_integer_operations,
                "on matrix cores",
            ),
        ];
        for (name, operations, note) in kinds {
            if operations > 0 || name == "FLOPs" {
                self.add(name, grouped(operations), note);
            }
        }
        if let Some(intensity) = totals.operations_per_global_byte {
            let note = "operations per byte requested from global memory";
            self.add("arithmetic intensity", format!("{intensity:.2}"), note);
        }
    }

    fn memory(&mut self, totals: &Totals) {
        if totals.global_accesses > 0 {
            let accesses = counted(totals.global_accesses, "access", "accesses");
            self.add(
                "global memory",
                format!("{} B", grouped(totals.global_bytes())),
                format!(
                    "{} B read, {} B written, in {accesses} of waves",
                    grouped(totals.global_read_bytes),
                    grouped(totals.global_written_bytes)
                ),
            );
            for (name, lines) in [
                ("lines of 64 B", totals.lines_64),
                ("lines of 128 B", totals.lines_128),
            ] {
                let each = ratio(lines, totals.global_accesses).unwrap_or_default();
                self.add(name, grouped(lines), format!("{each:.2} per access"));
            }
            self.add(
                "coalescing",
                percent(totals.coalescing_efficiency),
                format!(
                    "of the bytes in touched lines of {} B are used",
                    totals.line_bytes
                ),
            );
        }
        if totals.scalar_bytes > 0 {
            self.add(
                "scalar memory",
                format!("{} B", grouped(totals.scalar_bytes)),
                "",
            );
        }
        if totals.lds_accesses > 0 {
            let accesses = counted(totals.lds_accesses, "access", "accesses");
            let bytes = format!("{} B", grouped(totals.lds_bytes));
            self.add("LDS", bytes, format!("in {accesses} of waves"));
            let cycles = totals.lds_conflict_cycles;
            let each = ratio(cycles, totals.lds_accesses).unwrap_or_default();
            let note = format!("extra cycles, {each:.2} per access");
            self.add("bank conflicts", grouped(cycles), note);
        }
    }

    fn resources(&mut self, profile: &Profile) {
        let Some(occupied) = &profile.occupied else {
            return;
        };
        self.add(
            "registers",
            format!("{} VGPRs", occupied.vgprs),
            format!("{} of them AGPRs; {} SGPRs", occupied.agprs, occupied.sgprs),
        );
        self.add(
            "workgroup",
            counted(occupied.workgroup_size.into(), "work-item", "work-items"),
            format!("{} B of LDS", grouped(occupied.lds_bytes.into())),
        );
        self.add(
            "waves per SIMD",
            occupied.waves_per_simd,
            format!(
                "{} per compute unit; limited by {}",
                counted(
                    occupied.workgroups_per_compute_unit.into(),
                    "workgroup",
                    "workgroups"
                ),
                occupied.limited_by.join(", ")
            ),
        );
    }
}

/// A number with commas as thousands separators.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with a noun.
fn counted(number: u64, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        _ => format!("{} {many}", grouped(number)),
    }
}

/// A share in percent.
pub(super) fn percent(share: Option<f64>) -> String {
    share.map_or(String::new(), |share| format!("{:.1} %", 100.0 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        let texts = [0, 12, 999, 1000, 65_536, 1_000_000, u64::MAX].map(grouped);
        let expected = [
            "0",
            "12",
            "999",
            "1,000",
            "65,536",
            "1,000,000",
            "18,446,744,073,709,551,615",
        ];
        assert_eq!(texts, expected);
        assert_eq!(counted(1, "launch", "launches"), "1 launch");
        assert_eq!(counted(0, "launch", "launches"), "0 launches");
    }
}
