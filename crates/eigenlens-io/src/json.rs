//! Descriptions as JSON: the same value always gives the same text, and numbers keep every bit.

use eigenlens::Value;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// A value as JSON on one line. Names come in alphabetical order.
pub fn to_json(value: &Value) -> String {
    // Writing to a string cannot fail, and every name is text.
    serde_json::to_string(&Written(value)).unwrap_or_default()
}

/// A value as JSON with a line for each entry.
pub fn to_json_lines(value: &Value) -> String {
    serde_json::to_string_pretty(&Written(value)).unwrap_or_default()
}

/// The value of a JSON text. Names that come twice, numbers too large for a double and deep nesting
/// are refused.
pub fn from_json(text: &str) -> std::result::Result<Value, String> {
    serde_json::from_str::<Read>(text).map(|read| read.0).map_err(|e| e.to_string())
}

struct Written<'a>(&'a Value);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(flag) => serializer.serialize_bool(*flag),
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Number(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(list) => serializer.collect_seq(list.iter().map(Written)),
            Value::Map(map) => {
                let mut written = serializer.serialize_map(Some(map.len()))?;
                for (name, value) in map {
                    written.serialize_entry(name, &Written(value))?;
                }
                written.end()
            }
        }
    }
}

struct Read(Value);

impl<'de> Deserialize<'de> for Read {
    fn deserialize<D: Deserializer<'de>>(from: D) -> std::result::Result<Self, D::Error> {
        from.deserialize_any(Reader).map(Read)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> std::result::Result<Value, E> {
        Ok(Value::Integer(number))
    }

    fn visit_u64<E>(self, number: u64) -> std::result::Result<Value, E> {
        Ok(i64::try_from(number).map_or(Value::Number(number as f64), Value::Integer))
    }

    fn visit_f64<E: Error>(self, number: f64) -> std::result::Result<Value, E> {
        if number.is_finite() {
            Ok(Value::Number(number))
        } else {
            Err(E::custom("a number is out of range"))
        }
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Value, E> {
        Ok(Value::Text(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> std::result::Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Read(value)) = items.next_element()? {
            list.push(value);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> std::result::Result<Value, A::Error> {
        let mut map = BTreeMap::new();
        while let Some((name, Read(value))) = items.next_entry::<String, Read>()? {
            if map.contains_key(&name) {
                return Err(A::Error::custom(format!("the name `{name}` comes twice")));
            }
            map.insert(name, value);
        }
        Ok(Value::Map(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_to_the_last_bit() {
        let numbers = [0.1, -0.0, 5e-324, f64::MAX, 1.0, 2.5e-308, 1e23];
        let value = Value::map([
            ("numbers", Value::list(numbers)),
            ("whole", Value::Integer(i64::MIN)),
            ("text", Value::from("\u{1b}[31m \" \u{0} é")),
            ("nothing", Value::Null),
            ("nested", Value::map([("flag", Value::from(true))])),
        ]);
        for text in [to_json(&value), to_json_lines(&value)] {
            let back = from_json(&text).unwrap();
            assert_eq!(back, value);
            assert_eq!(to_json(&back), to_json(&value));
        }
        // −0 keeps its sign, which `==` does not see.
        assert!(to_json(&value).contains("-0.0"));
    }

    #[test]
    fn hostile_texts_are_refused() {
        let deep = "[".repeat(100_000);
        for (text, complaint) in [
            (r#"{"a":1,"b":2,"a":3}"#, "`a` comes twice"),
            ("[1e999]", "out of range"),
            (deep.as_str(), "recursion limit"),
            ("{", "EOF"),
            ("1 2", "trailing"),
            ("NaN", "expected"),
        ] {
            let message = from_json(text).unwrap_err();
            assert!(message.contains(complaint), "{message}");
        }
    }
}
