//! Requests of a page, and their answers.

use std::{collections::HashMap, path::Path};

use ferrowave_code_object::CodeObject;
use ferrowave_inspect::BufferAfter;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    file::{self, Object},
    launch::{self, Launch},
};

/// What a page asks for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// Open a file, whose bytes go with the request.
    Open {},
    /// Describe a kernel in all code objects of the file that have it.
    Kernel {
        /// The kernel's name.
        kernel: String,
        /// Work-items of a workgroup, for the occupancy; the kernel's largest if it is not given.
        workgroup_size: Option<u32>,
        /// LDS that a launch adds, for the occupancy.
        #[serde(default)]
        lds_bytes: u32,
    },
    /// List the instructions of a kernel.
    Listing {
        /// The kernel's name.
        kernel: String,
        /// The number of the code object.
        object: usize,
    },
    /// Launch a kernel.
    Launch {
        /// The launch.
        launch: Box<Launch>,
        /// The names and lengths of the files that its arguments name, whose bytes go with the request, one after the
        /// other.
        #[serde(default)]
        files: Vec<(String, usize)>,
    },
    /// The file of a buffer after the last launch.
    Buffer {
        /// The number of its argument.
        argument: usize,
    },
}

/// An answer: JSON with the key `ok` or `error`, and bytes.
#[derive(Debug, Default)]
pub struct Answer {
    /// The JSON.
    pub text: String,
    /// The bytes.
    pub data: Vec<u8>,
}

/// What is known between requests.
#[derive(Default)]
pub struct Session {
    objects: Vec<Object>,
    after: Vec<BufferAfter>,
}

impl Session {
    /// Without a file.
    pub const fn new() -> Self {
        Session {
            objects: Vec::new(),
            after: Vec::new(),
        }
    }

    /// Answers a [`Request`] in JSON, with the bytes that go with it.
    pub fn answer(&mut self, text: &[u8], data: Vec<u8>) -> Answer {
        let request = serde_json::from_slice(text).map_err(|error| error.to_string());
        match request.and_then(|request| self.answer_to(request, data)) {
            Ok((value, data)) => Answer {
                text: json!({ "ok": value }).to_string(),
                data,
            },
            Err(error) => Answer {
                text: json!({ "error": error }).to_string(),
                data: Vec::new(),
            },
        }
    }

    fn answer_to(&mut self, request: Request, data: Vec<u8>) -> Result<(Value, Vec<u8>), String> {
        let value = match request {
            Request::Open {} => {
                self.objects = file::open(&data)?;
                self.after.clear();
                let summaries: Vec<_> = self.objects.iter().map(Object::summary).collect();
                json!({ "objects": summaries })
            }
            Request::Kernel {
                kernel,
                workgroup_size,
                lds_bytes,
            } => json!(file::describe(
                &self.objects,
                &kernel,
                workgroup_size,
                lds_bytes
            )?),
            Request::Listing { kernel, object } => {
                json!(launch::listing(self.object(object)?, &kernel)?)
            }
            Request::Launch { launch, files } => {
                self.after.clear();
                let files = split(files, data)?;
                let (ran, after) = launch::run(self.object(launch.object)?, &launch, &files)?;
                self.after = after;
                json!(ran)
            }
            Request::Buffer { argument } => {
                let after = self.after.iter().find(|after| after.argument == argument);
                let after = after.ok_or_else(|| format!("argument {argument} is no buffer"))?;
                let name = launch::file_name(after);
                let file = after.file(Path::new(&name))?;
                return Ok((json!({ "name": name }), file));
            }
        };
        Ok((value, Vec::new()))
    }

    fn object(&self, index: usize) -> Result<&CodeObject, String> {
        let count = self.objects.len();
        let object = self.objects.get(index);
        let object = object.ok_or_else(|| format!("code object {index} of {count}, from 0"))?;
        object.object.as_ref().map_err(String::clone)
    }
}

/// The files whose bytes stand one after the other.
fn split(
    files: Vec<(String, usize)>,
    mut data: Vec<u8>,
) -> Result<HashMap<String, Vec<u8>>, String> {
    let mut all = HashMap::new();
    for (name, bytes) in files {
        if bytes > data.len() {
            return Err(format!(
                "{name}: {bytes} bytes, but {} are left",
                data.len()
            ));
        }
        let rest = data.split_off(bytes);
        all.insert(name, data);
        data = rest;
    }
    Ok(all)
}
