//! The fields of image instructions, and how many registers their addresses and data take.

use super::row::More;

/// Fields that only image instructions have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ImageControl {
    /// The components that are loaded or stored, one bit each; a gather's only component.
    pub dmask: u8,
    /// What the coordinates are (RDNA). On CDNA, the resource says it.
    pub dimension: Dimension,
    /// The last coordinate is the layer of an array (CDNA).
    pub array: bool,
    /// Coordinates are in texels, not from 0 to 1.
    pub unnormalized: bool,
    /// The resource has 128 bits (RDNA).
    pub r128: bool,
    /// Addresses have 16 bits.
    pub a16: bool,
    /// Data has 16 bits, two components in a register.
    pub d16: bool,
    /// A warning follows the data if a level is not resident.
    pub lwe: bool,
    /// Registers of the first addresses, if addresses are not in consecutive registers (RDNA). The others are from
    /// [`Instruction::src`](crate::Instruction::src)`[0]` on.
    pub first: [u8; 4],
    /// How many of `first` there are.
    pub first_count: u8,
}

/// What the coordinates of an image are (RDNA's field `dim`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// x.
    #[default]
    D1,
    /// x, y.
    D2,
    /// x, y, z.
    D3,
    /// x, y, face.
    Cube,
    /// x, layer.
    D1Array,
    /// x, y, layer.
    D2Array,
    /// x, y, sample.
    D2Msaa,
    /// x, y, layer, sample.
    D2MsaaArray,
}

impl Dimension {
    const ALL: [Dimension; 8] = [
        Dimension::D1,
        Dimension::D2,
        Dimension::D3,
        Dimension::Cube,
        Dimension::D1Array,
        Dimension::D2Array,
        Dimension::D2Msaa,
        Dimension::D2MsaaArray,
    ];

    /// The dimension with this code.
    pub const fn from_code(code: u32) -> Self {
        Self::ALL[(code & 7) as usize]
    }

    /// LLVM's name, without `SQ_RSRC_IMG_`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Dimension::D1 => "1D",
            Dimension::D2 => "2D",
            Dimension::D3 => "3D",
            Dimension::Cube => "CUBE",
            Dimension::D1Array => "1D_ARRAY",
            Dimension::D2Array => "2D_ARRAY",
            Dimension::D2Msaa => "2D_MSAA",
            Dimension::D2MsaaArray => "2D_MSAA_ARRAY",
        }
    }

    /// The number of coordinates.
    pub const fn coordinates(self) -> u8 {
        match self {
            Dimension::D1 => 1,
            Dimension::D2 | Dimension::D1Array => 2,
            Dimension::D3 | Dimension::Cube | Dimension::D2Array | Dimension::D2Msaa => 3,
            Dimension::D2MsaaArray => 4,
        }
    }

    /// The number of derivatives: along both axes of the screen, one for each coordinate that is not a layer.
    const fn derivatives(self) -> u8 {
        match self {
            Dimension::D1 | Dimension::D1Array => 2,
            Dimension::D3 => 6,
            _ => 4,
        }
    }
}

impl ImageControl {
    /// RDNA's number of address registers.
    pub(super) fn addresses(&self, more: More) -> u8 {
        let coordinates = self.dimension.coordinates() + u8::from(more == More::Level);
        let derivatives = match more {
            More::Derivatives => self.dimension.derivatives(),
            _ => 0,
        };
        match self.a16 {
            true => coordinates.div_ceil(2) + derivatives,
            false => coordinates + derivatives,
        }
    }

    /// The number of components that the instruction moves.
    pub(super) fn components(&self, more: More) -> u8 {
        match more {
            More::Gather => 4,
            // LLVM's disassembler prints a register here.
            _ => (self.dmask.count_ones() as u8).max(1),
        }
    }

    /// The bits of the data, without a status word.
    pub(super) fn data_bits(&self, more: More) -> u16 {
        let components = u16::from(self.components(more));
        match self.d16 {
            true => 32 * components.div_ceil(2),
            false => 32 * components,
        }
    }
}
