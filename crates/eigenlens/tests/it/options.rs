//! The tables of options: whole, effective, and as the pages show them.

use eigenlens::{DataShape, METHODS, Method, OptionKind, OptionSpec, OptionValue, OptionValues};
use ndarray::Array2;
use std::path::Path;

fn shape() -> DataShape {
    DataShape::dense(50, 9)
}

/// A value that is not the default.
fn other(spec: &OptionSpec) -> OptionValue {
    match spec.kind {
        OptionKind::Flag => OptionValue::Flag(spec.default != Some("true")),
        OptionKind::Count(least) => OptionValue::Count(least + 7),
        OptionKind::Number(..) => OptionValue::Number(0.625),
        OptionKind::Counts => OptionValue::Counts(vec![4]),
        OptionKind::Numbers => OptionValue::Numbers(vec![0.625]),
        OptionKind::Choice(words) => OptionValue::Word(words[words.len() - 1].0.into()),
        OptionKind::Matrix => OptionValue::Matrix(Array2::eye(3)),
    }
}

fn spec(method: &'static Method, name: &str) -> &'static OptionSpec {
    method.options().find(|spec| spec.name == name).unwrap_or_else(|| panic!("{name}"))
}

/// Values under which an option counts: those that it needs, set.
fn context(method: &'static Method, of: &OptionSpec) -> OptionValues {
    let mut values = method.values();
    for (other, words) in of.needs {
        values.set(other, spec(method, other).parse(words[0]).unwrap()).unwrap();
    }
    // What has two ways to be said is decided by the method, not by its table.
    for (method_name, name, needed, word) in [
        ("kernel-pca", "selection", "approximation", "nystrom"),
        ("kernel-pca", "orthogonal", "approximation", "random-features"),
        ("laplacian", "gamma", "affinity", "heat"),
    ] {
        if method.name == method_name && of.name == name {
            values.set(needed, OptionValue::Word(word.into())).unwrap();
        }
    }
    values
}

#[test]
fn every_option_changes_the_estimator() {
    for method in METHODS {
        for option in method.options() {
            let built = |values: &OptionValues| {
                let estimator = method.build(values, &shape());
                format!("{:?}", estimator.unwrap_or_else(|e| panic!("{}: {e}", option.name)))
            };
            let without = context(method, option);
            let mut with = without.clone();
            with.set(option.name, other(option)).unwrap();
            assert_ne!(built(&without), built(&with), "{} {}", method.name, option.name);
        }
        let mut values = method.values();
        values.set_n_components(3);
        let three = format!("{:?}", method.build(&values, &shape()).unwrap());
        values.set_n_components(4);
        assert_ne!(three, format!("{:?}", method.build(&values, &shape()).unwrap()));
    }
}

#[test]
fn every_word_of_a_choice_means_something_else() {
    for method in METHODS {
        for option in method.options() {
            let OptionKind::Choice(words) = option.kind else { continue };
            let mut seen = Vec::new();
            for (word, _) in words {
                let mut values = context(method, option);
                values.set(option.name, OptionValue::Word((*word).into())).unwrap();
                let built = format!("{:?}", method.build(&values, &shape()).unwrap());
                assert!(!seen.contains(&built), "{} {} {word}", method.name, option.name);
                seen.push(built);
            }
        }
    }
}

#[test]
fn tables_are_whole() {
    for method in METHODS {
        let names: Vec<&str> = method.options().map(|spec| spec.name).collect();
        for (at, option) in method.options().enumerate() {
            let named = format!("{} {}", method.name, option.name);
            assert!(!names[..at].contains(&option.name), "{named} is there twice");
            assert!(option.name.chars().all(|c| c.is_ascii_lowercase() || "_0".contains(c)));
            assert!(
                option.help.starts_with(char::is_uppercase) || option.help.starts_with(['λ', 'γ'])
            );
            assert!(!option.help.ends_with('.'), "{named}");
            if let Some(default) = option.default {
                let value = option.parse(default).unwrap();
                assert_eq!(value.to_string(), default, "{named}");
            }
            for (needed, words) in option.needs {
                for word in *words {
                    spec(method, needed).parse(word).unwrap();
                }
            }
            for excluded in option.excludes {
                assert!(names.contains(excluded), "{named} excludes {excluded}");
            }
        }
    }
}

#[test]
fn options_that_do_not_go_together_are_refused() {
    for method in METHODS {
        for option in method.options() {
            for excluded in option.excludes {
                let mut values = context(method, option);
                values.set(option.name, other(option)).unwrap();
                values.set(excluded, other(spec(method, excluded))).unwrap();
                let error = method.build(&values, &shape()).unwrap_err().to_string();
                assert!(error.contains("does not go with"), "{} {error}", method.name);
            }
            if !option.needs.is_empty() {
                let mut values = method.values();
                let (needed, words) = option.needs[0];
                let usual = spec(method, needed).default.unwrap_or_default();
                values.set(option.name, other(option)).unwrap();
                let fits = words.contains(&usual);
                assert_eq!(method.build(&values, &shape()).is_ok(), fits, "{}", option.name);
            }
        }
    }
}

#[test]
fn values_of_another_kind_or_range_are_refused() {
    let mut values = Method::named("sparse-pca").unwrap().values();
    for (name, value) in [
        ("exact", OptionValue::Count(1)),
        ("ridge", OptionValue::Number(-1.0)),
        ("ridge", OptionValue::Word("finite".into())),
        ("gap", OptionValue::Number(f64::NAN)),
        ("deflation", OptionValue::Word("none".into())),
        ("cardinality", OptionValue::Counts(vec![])),
        ("nothing", OptionValue::Flag(true)),
    ] {
        assert!(values.set(name, value).is_err(), "{name}");
    }
    let parts = Method::named("ppca-mixture").unwrap().options();
    let parts = parts.into_iter().find(|spec| spec.name == "n_parts").unwrap();
    assert!(parts.parse("0").is_err() && parts.parse("two").is_err() && parts.parse("2").is_ok());
}

#[test]
fn the_record_reads_back() {
    for method in METHODS {
        let record = method.values().record(&shape());
        let mut again = method.values();
        for (name, text) in &record {
            match name.as_str() {
                "n_components" => {
                    again.set_n_components(text.parse::<eigenlens::NComponents>().unwrap())
                }
                "seed" => assert_eq!(text, "0"),
                name => again.set(name, spec(method, name).parse(text).unwrap()).unwrap(),
            }
        }
        assert_eq!(again.record(&shape()), record);
        // What was found may be asked for.
        method.build(&again, &shape()).unwrap();
    }
}

/// The table of a page, between its marks.
fn table(method: &'static Method) -> String {
    let mut text =
        String::from("| option | flag | values | default | |\n| --- | --- | --- | --- | --- |\n");
    for option in method.options() {
        let flag = option.name.strip_prefix("n_").unwrap_or(option.name).replace('_', "-");
        let no = if matches!(option.kind, OptionKind::Flag) && option.default == Some("true") {
            "no-"
        } else {
            ""
        };
        let flag = match (&option.kind, option.alias) {
            (OptionKind::Matrix, _) => "".into(),
            (_, Some(alias)) => format!("`--{no}{flag}`, `--{alias}`"),
            _ => format!("`--{no}{flag}`"),
        };
        let values = match option.kind {
            OptionKind::Choice(words) => {
                let words = words.iter().map(|(word, help)| format!("`{word}`: {help}"));
                words.collect::<Vec<_>>().join("; ")
            }
            _ => option.expected(),
        };
        let mut help = format!("{}.", option.help);
        if let Some((said, usual)) = option.help.split_once(" [") {
            help = format!("{said} [{usual}");
        }
        for (needed, words) in option.needs {
            help.push_str(&format!(" Only with `{needed}` {}.", words.join(" or ")));
        }
        if !option.excludes.is_empty() {
            help.push_str(&format!(" Not with `{}`.", option.excludes.join("`, `")));
        }
        let default = option.default.map_or(String::new(), |default| format!("`{default}`"));
        text.push_str(&format!("| `{}` | {flag} | {values} | {default} | {help} |\n", option.name));
    }
    text
}

/// Pages show the tables as they are; `cargo xtask pages` writes them anew.
#[test]
fn pages_show_the_options() {
    const BEGIN: &str = "<!-- options, written by `cargo xtask pages` -->\n";
    const END: &str = "<!-- end of options -->\n";
    for method in METHODS {
        let page = format!("../../docs/methods/{}.md", method.name);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let (Some(begin), Some(end)) = (text.find(BEGIN), text.find(END)) else {
            panic!("{}: the marks of the options are missing", path.display());
        };
        let wanted = format!("{}{}{}", &text[..begin + BEGIN.len()], table(method), &text[end..]);
        if std::env::var_os("EIGENLENS_WRITE_PAGES").is_some() {
            std::fs::write(&path, wanted).unwrap();
        } else {
            assert!(text == wanted, "{}: run `cargo xtask pages`", path.display());
        }
    }
}
