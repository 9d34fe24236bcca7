//! Deserializer that refuses lists in place of tables. Serde's derived structs accept a list, field
//! after field, and an empty one as defaults.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};
use std::fmt;

/// A deserializer of TOML, or a part of one, that refuses lists where tables belong.
pub(crate) struct Tables<T>(pub T);

/// Receiver of a value.
struct Shown<V> {
    visitor: V,
    is_struct: bool,
}

fn any<V>(visitor: V) -> Shown<V> {
    Shown { visitor, is_struct: false }
}

fn table<V>(visitor: V) -> Shown<V> {
    Shown { visitor, is_struct: true }
}

macro_rules! wants {
    ($($method:ident($($name:ident: $of:ty),*) $shown:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $of,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* $shown(visitor))
        }
    )*};
}

type Names = &'static [&'static str];

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Tables<D> {
    type Error = D::Error;

    wants! {
        deserialize_any() any;
        deserialize_bool() any;
        deserialize_i8() any;
        deserialize_i16() any;
        deserialize_i32() any;
        deserialize_i64() any;
        deserialize_i128() any;
        deserialize_u8() any;
        deserialize_u16() any;
        deserialize_u32() any;
        deserialize_u64() any;
        deserialize_u128() any;
        deserialize_f32() any;
        deserialize_f64() any;
        deserialize_char() any;
        deserialize_str() any;
        deserialize_string() any;
        deserialize_bytes() any;
        deserialize_byte_buf() any;
        deserialize_option() any;
        deserialize_unit() any;
        deserialize_unit_struct(name: &'static str) any;
        deserialize_newtype_struct(name: &'static str) any;
        deserialize_seq() any;
        deserialize_tuple(length: usize) any;
        deserialize_tuple_struct(name: &'static str, length: usize) any;
        deserialize_map() any;
        deserialize_struct(name: &'static str, fields: Names) table;
        deserialize_enum(name: &'static str, variants: Names) any;
        deserialize_identifier() any;
        deserialize_ignored_any() any;
    }
}

macro_rules! shows {
    ($($method:ident($of:ty);)*) => {$(
        fn $method<E: Error>(self, value: $of) -> Result<V::Value, E> {
            self.visitor.$method(value)
        }
    )*};
}

/// Of everything that TOML has.
impl<'de, V: Visitor<'de>> Visitor<'de> for Shown<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    shows! {
        visit_bool(bool);
        visit_i64(i64);
        visit_i128(i128);
        visit_u64(u64);
        visit_u128(u128);
        visit_f64(f64);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Tables(value))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Tables(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<V::Value, A::Error> {
        if self.is_struct {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        self.visitor.visit_seq(Tables(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Tables(table))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, choice: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(Tables(choice))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Tables<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, value: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Tables(value))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Tables<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Tables(seed))
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Tables<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Tables(seed))
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Tables<A> {
    type Error = A::Error;
    type Variant = Tables<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        self.0.variant_seed(seed).map(|(name, values)| (name, Tables(values)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Tables<A> {
    type Error = A::Error;

    /// TOML takes `word = {}` and `word = []` for the word as well; only these have something to
    /// show here.
    fn unit_variant(self) -> Result<(), A::Error> {
        match self.0.newtype_variant::<IgnoredAny>() {
            Ok(_) => Err(A::Error::custom("this choice has no values: write its word alone")),
            Err(_) => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Tables(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, any(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: Names, visitor: V) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, table(visitor))
    }
}
