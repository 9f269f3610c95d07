//! Launch bounds as a command-line value.

use std::str::FromStr;

use ferrowave_kernel_build::LaunchBounds;

/// `KERNEL=THREADS` or `KERNEL=THREADS,WAVES`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) kernel: String,
    pub(crate) bounds: LaunchBounds,
}

impl FromStr for Bounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "write KERNEL=THREADS or KERNEL=THREADS,WAVES, as in softmax=256";
        let (kernel, numbers) = text.split_once('=').ok_or(form)?;
        let number = |text: &str| {
            text.parse::<u32>()
                .map_err(|_| format!("`{text}` is not a number; {form}"))
        };
        let bounds = match numbers.split_once(',') {
            Some((threads, waves)) => {
                LaunchBounds::threads(number(threads)?).min_waves_per_eu(number(waves)?)
            }
            None => LaunchBounds::threads(number(numbers)?),
        };
        match kernel.is_empty() {
            true => Err(form.to_owned()),
            false => Ok(Bounds {
                kernel: kernel.to_owned(),
                bounds,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launch_bounds_are_read() {
        let parse = |text: &str| text.parse::<Bounds>().map(|b| (b.kernel, b.bounds));
        assert_eq!(
            parse("a=256"),
            Ok(("a".to_owned(), LaunchBounds::threads(256)))
        );
        assert_eq!(
            parse("a=64,2"),
            Ok((
                "a".to_owned(),
                LaunchBounds::threads(64).min_waves_per_eu(2)
            ))
        );
        for (text, complaint) in [
            ("a", "write KERNEL=THREADS"),
            ("=256", "write KERNEL=THREADS"),
            ("a=many", "`many` is not a number"),
            ("a=64,", "`` is not a number"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(complaint), "{text}: {error}");
        }
    }
}
