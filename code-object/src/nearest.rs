//! Suggests a name for a misspelled one.

/// Minimum similarity of a suggestion, from 0 to 1.
const ALIKE: f64 = 0.7;

/// The name among `names` that is most similar to `wanted`, if it is similar enough, for messages.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(wanted, name), name))
        .filter(|&(likeness, _)| likeness > ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_understood_and_other_names_are_not() {
        let names = ["softmax", "transpose", "row_sums"];
        assert_eq!(nearest("sofmax", names), Some("softmax"));
        assert_eq!(nearest("transposed", names), Some("transpose"));
        assert_eq!(nearest("row_sum", names), Some("row_sums"));
        assert_eq!(nearest("gemm", names), None);
        assert_eq!(nearest("", names), None);
    }
}
