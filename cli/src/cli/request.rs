//! The options that describe a product, shared by all commands that compute one.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use ferrowave::gemm::{Operation, Order, Request};
use ferrowave_shared::{Bias, ElementType, ElementTypes};

/// The type of a product's elements.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct TypeOption {
    /// The type of the elements of A and B.
    ///
    /// C has the same type, except i32 for i8, and f32 for xf32 and types of 4, 6 and 8 bits; see --output-type. fp8 is E4M3 and bf8
    /// E5M2 in the GPU's own encoding: FNUZ on gfx942, OCP on the others. mxfp8, mxbf8, mxfp6, mxbf6 and mxfp4 are E4M3, E5M2,
    /// E2M3, E3M2 and E2M1 of the OCP with a scale for each 32 elements along k; k must be a multiple of 32. Of two names, as in
    /// fp8_bf8, the first is the type of A and the second that of B. With sparse_ before f16, bf16, i8 or fp8, A has two of each
    /// four elements along k; k must be a multiple of 32, too.
    #[arg(long = "type", value_name = "TYPE", default_value = "f32")]
    element: ElementName,
}

impl TypeOption {
    /// The types on a GPU.
    pub(crate) fn of(self, gpu: &str) -> ElementTypes {
        self.element.types(gpu)
    }
}

/// All of a product except its types and extents.
#[derive(Debug, Args)]
pub(crate) struct ProductOptions {
    /// Type of C and of the bias, if it is not the default of --type: f32 for f16 and bf16; f16 or bf16 for 8-bit
    /// floats; fp8 for fp8 and mxfp8, bf8 for bf8 and mxbf8, then with a bias of f32.
    #[arg(long, value_name = "TYPE", value_parser = output_type)]
    output_type: Option<ElementType>,
    /// Layout of A and B in memory: N is row-major, T column-major [default: NN; NT for types with scales or
    /// with a sparse A, which have no other].
    #[arg(long, value_name = "LAYOUT")]
    layout: Option<LayoutName>,
    /// Factor α of the product.
    #[arg(long, default_value_t = 1.0, value_parser = factor, allow_hyphen_values = true)]
    alpha: f64,
    /// Factor β of the old C; if it is 0, C is not read.
    #[arg(long, default_value_t = 0.0, value_parser = factor, allow_hyphen_values = true)]
    beta: f64,
    /// Vector to add: one element for each row or for each column of C.
    #[arg(long, value_enum, default_value_t = BiasName::None)]
    bias: BiasName,
    /// Operation on the old C before it is scaled: none, set=C, scale=C, relu, relu-gradient, gelu-gradient or silu-gradient.
    #[arg(long, value_name = "OPERATION", default_value_t = Operation::None)]
    prologue: Operation,
    /// Operation on the result: none, set=C, scale=C, relu, gelu or silu.
    #[arg(long, value_name = "OPERATION", default_value_t = Operation::None)]
    epilogue: Operation,
    /// Multiply the scaled old C by the result, element by element, instead of adding it before the epilogue; with silu as
    /// the epilogue this is SwiGLU. Needs a --beta other than 0.
    #[arg(long)]
    gate: bool,
    /// Factor of the result before it is stored in 8-bit floats, where numbers saturate.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = factor, allow_hyphen_values = true)]
    output_scale: f64,
    /// Number of products.
    #[arg(long, default_value_t = 1, value_parser = extent)]
    batch: i64,
}

impl ProductOptions {
    /// The request for a product of these types.
    pub(crate) fn request(&self, types: ElementTypes, m: i64, n: i64, k: i64) -> Request {
        let along_k = match types.block() > 1 {
            true => Order::ColumnMajor,
            false => Order::RowMajor,
        };
        let layout = self.layout.unwrap_or(LayoutName {
            a: Order::RowMajor,
            b: along_k,
        });
        Request {
            order_a: layout.a,
            order_b: layout.b,
            alpha: self.alpha,
            beta: self.beta,
            bias: match self.bias {
                BiasName::None => Bias::None,
                BiasName::Row => Bias::Row,
                BiasName::Column => Bias::Column,
            },
            prologue: self.prologue,
            epilogue: self.epilogue,
            gate: self.gate,
            batch: self.batch,
            output_scale: self.output_scale,
            types: match self.output_type {
                // In the GPU's encoding.
                Some(output) if types.a.is_fnuz() => types.with_output(output.fnuz()),
                Some(output) => types.with_output(output),
                None => types,
            },
            ..Request::new(m, n, k)
        }
    }
}

/// An extent, a distance or a number of products. What each may be is said where the problem is checked.
pub(crate) fn extent(text: &str) -> Result<i64, String> {
    let number = text.parse();
    number.map_err(|_| "expected a whole number from 0 to 2147483647".to_owned())
}

/// A seed.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let number = text.parse();
    number.map_err(|_| format!("expected a whole number from 0 to {}", u64::MAX))
}

/// A type that C may have.
fn output_type(text: &str) -> Result<ElementType, String> {
    let types = [
        ElementType::F32,
        ElementType::F16,
        ElementType::Bf16,
        ElementType::Fp8,
        ElementType::Bf8,
        ElementType::F64,
        ElementType::I32,
    ];
    let known = types.into_iter().find(|element| element.name() == text);
    known.ok_or_else(|| "expected f32, f16, bf16, fp8, bf8, f64 or i32".to_owned())
}

/// A factor. `1e400` is none: it would be read as an infinity.
fn factor(text: &str) -> Result<f64, String> {
    let is_number = text.bytes().any(|byte| byte.is_ascii_digit());
    match text.parse::<f64>() {
        Ok(factor) if factor.is_infinite() && is_number => {
            Err(format!("too large; the largest number is {:e}", f64::MAX))
        }
        Ok(factor) => Ok(factor),
        Err(_) => Err("expected a number such as 1.5 or -2e-3, inf or nan".to_owned()),
    }
}

/// The letters of a problem's layouts.
pub(crate) fn layout_letters(a: Order, b: Order) -> String {
    [a, b]
        .map(|order| match order {
            Order::RowMajor => 'N',
            Order::ColumnMajor => 'T',
        })
        .iter()
        .collect()
}

/// The name of element types on the command line. 8-bit floats are in the OCP's encoding here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ElementName(ElementTypes);

impl ElementName {
    pub(crate) const F32: Self = Self(ElementTypes::F32);
    pub(crate) const F16: Self = Self(ElementTypes::F16);

    /// The types on a GPU, in its encoding.
    pub(crate) fn types(self, gpu: &str) -> ElementTypes {
        match gpu {
            "gfx942" => self.0.fnuz(),
            _ => self.0,
        }
    }
}

impl FromStr for ElementName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // The GPU decides the encoding.
        let all = ElementTypes::ALL.iter().filter(|types| !types.a.is_fnuz());
        if let Some(types) = all.clone().find(|types| types.name() == text) {
            return Ok(Self(*types));
        }
        let names: Vec<_> = all.map(|types| types.name()).collect();
        Err(format!(
            "unknown type; expected one of {}",
            names.join(", ")
        ))
    }
}

/// NN, NT, TN or TT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LayoutName {
    a: Order,
    b: Order,
}

impl FromStr for LayoutName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (a, b) = match text.to_ascii_uppercase().as_str() {
            "NN" => (Order::RowMajor, Order::RowMajor),
            "NT" => (Order::RowMajor, Order::ColumnMajor),
            "TN" => (Order::ColumnMajor, Order::RowMajor),
            "TT" => (Order::ColumnMajor, Order::ColumnMajor),
            _ => return Err("expected NN, NT, TN or TT: N is row-major, T column-major".into()),
        };
        Ok(Self { a, b })
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BiasName {
    None,
    Row,
    Column,
}

/// Sizes of published figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// 2048 × 1024 × 2048 in f32. The documents behind the ladder give times for it on MI100 (`--gpus MI100`). Takes
    ///    the emulator some minutes.
    Seeds,
}

impl Preset {
    /// m, n and k.
    pub(crate) const fn size(self) -> Size {
        match self {
            Self::Seeds => Size {
                m: 2048,
                n: 1024,
                k: 2048,
            },
        }
    }
}

/// The extents of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) m: i64,
    pub(crate) n: i64,
    pub(crate) k: i64,
}

impl Size {
    /// n×n×n.
    pub(crate) const fn cube(n: i64) -> Self {
        Size { m: n, n, k: n }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || format!("`{text}` is not a size; write one number, or m×n×k like 37x53x29");
        let numbers = text
            .split('x')
            .map(|number| number.trim().parse().map_err(|_| error()))
            .collect::<Result<Vec<i64>, _>>()?;
        match numbers[..] {
            [n] => Ok(Size::cube(n)),
            [m, n, k] => Ok(Size { m, n, k }),
            _ => Err(error()),
        }
    }
}
