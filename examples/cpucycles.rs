// SPDX-License-Identifier: 0BSD OR MIT
//! Counts cycles in Rust, with the standard library only. The variable `cpucycles` of the library is
//! not a function, so this calls functions of the library.
//!
//!     rustc -O cpucycles.rs $(pkg-config --libs cpucycles)

use std::ffi::{c_char, c_double, c_int, c_longlong, CStr};
use std::marker::PhantomData;

/// struct cpucycles_counter_info. Later versions of the library may append members.
#[repr(C)]
pub struct Counter {
    pub name: *const c_char,
    pub summary: *const c_char,
    pub kind: *const c_char,
    pub scope: *const c_char,
    pub unit: *const c_char,
    pub count_unit: *const c_char,
    pub width: c_int,
    pub state: c_int,
    pub score: c_longlong,
    pub scaling: c_double,
    pub reason: *const c_char,
    pub explanation: *const c_char,
    pub error_number: c_int,
    pub signal_number: c_int,
    pub remedy: *const c_char,
    pub smallest_step: c_longlong,
}

#[link(name = "cpucycles")]
extern "C" {
    fn cpucycles_section_begin() -> c_longlong;
    fn cpucycles_section_end() -> c_longlong;
    fn cpucycles_section_overhead() -> c_longlong;
    fn cpucycles_selected() -> *const Counter;
}

/// The unit of the counts.
pub fn unit() -> &'static str {
    unsafe { CStr::from_ptr((*cpucycles_selected()).count_unit).to_str().unwrap_or("?") }
}

/// A section that has begun. It cannot be sent to another thread, which may have its own count.
pub struct Section(i64, PhantomData<*const ()>);

pub fn begin() -> Section {
    Section(unsafe { cpucycles_section_begin() }, PhantomData)
}

impl Section {
    /// Subtracts modulo 2^64. A result below 0 is the noise of an empty section, or the counter
    /// stepped back.
    pub fn end(self) -> u64 {
        let end = unsafe { cpucycles_section_end() };
        end.wrapping_sub(self.0).wrapping_sub(unsafe { cpucycles_section_overhead() }).max(0) as u64
    }
}

/// The trait of criterion. With criterion in Cargo.toml, delete this trait, use the one of
/// criterion::measurement, and add formatter(), which returns a ValueFormatter with the unit.
pub trait Measurement {
    type Intermediate;
    type Value;
    fn start(&self) -> Self::Intermediate;
    fn end(&self, begun: Self::Intermediate) -> Self::Value;
    fn add(&self, one: &Self::Value, other: &Self::Value) -> Self::Value;
    fn zero(&self) -> Self::Value;
    fn to_f64(&self, value: &Self::Value) -> f64;
}

pub struct Cycles;

impl Measurement for Cycles {
    type Intermediate = Section;
    type Value = u64;
    fn start(&self) -> Section {
        begin()
    }
    fn end(&self, begun: Section) -> u64 {
        begun.end()
    }
    fn add(&self, one: &u64, other: &u64) -> u64 {
        one + other
    }
    fn zero(&self) -> u64 {
        0
    }
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }
}

#[allow(dead_code)] // a module has no main()
fn main() {
    let section = Cycles.start();
    let sum = (0..1000u64).fold(0, |sum, i| std::hint::black_box(sum + i));
    println!("sum {}: {} {}", sum, Cycles.end(section), unit());
}
