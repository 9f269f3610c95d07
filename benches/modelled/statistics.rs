//! How far a group of modelled figures is from the published ones.

/// A published figure and the modelled one. Both are times, so that the larger one is slower.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pair {
    pub(crate) published: f64,
    pub(crate) modelled: f64,
}

impl Pair {
    pub(crate) fn ratio(&self) -> f64 {
        self.modelled / self.published
    }
}

/// The figures of a group of rows.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pairs: Vec<Pair>,
}

impl Group {
    pub(crate) fn add(&mut self, pair: Pair) {
        self.pairs.push(pair);
    }

    /// The mean of |ratio - 1|.
    fn mean_error(&self) -> f64 {
        let errors = self.pairs.iter().map(|pair| (pair.ratio() - 1.0).abs());
        errors.sum::<f64>() / self.pairs.len() as f64
    }

    fn within(&self, most: f64) -> usize {
        let near = |pair: &&Pair| (1.0 / (1.0 + most)..=1.0 + most).contains(&pair.ratio());
        self.pairs.iter().filter(near).count()
    }

    /// Spearman's correlation of the ranks, where equal figures share their mean rank.
    fn rank_correlation(&self) -> f64 {
        let published = ranks(&self.pairs, |pair| pair.published);
        let modelled = ranks(&self.pairs, |pair| pair.modelled);
        let mean = (self.pairs.len() as f64 - 1.0) / 2.0;
        let product = |a: &[f64], b: &[f64]| -> f64 {
            let pairs = a.iter().zip(b);
            pairs.map(|(a, b)| (a - mean) * (b - mean)).sum()
        };
        let spread = product(&published, &published) * product(&modelled, &modelled);
        product(&published, &modelled) / spread.sqrt()
    }

    pub(crate) fn print(&self, name: &str) {
        if self.pairs.len() < 2 {
            return;
        }
        println!(
            "\n{name}: {} rows, mean absolute error {:.1} %, {} within 25 %, rank correlation {:.3}",
            self.pairs.len(),
            1e2 * self.mean_error(),
            self.within(0.25),
            self.rank_correlation(),
        );
    }
}

fn ranks(pairs: &[Pair], figure: impl Fn(&Pair) -> f64) -> Vec<f64> {
    let rank = |pair: &Pair| {
        let less = pairs.iter().filter(|other| figure(other) < figure(pair));
        let equal = pairs.iter().filter(|other| figure(other) == figure(pair));
        less.count() as f64 + (equal.count() as f64 - 1.0) / 2.0
    };
    pairs.iter().map(rank).collect()
}
