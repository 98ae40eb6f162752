//! The page: markup that never changes, a policy that lets nothing in or out, and the data as text.

use super::arrays::Arrays;
use super::{Explorer, ExplorerColumn, ExplorerSamples, ExplorerValues};
use crate::html::font_faces;
use crate::names::{clean, escape};
use crate::pictures::component::Component;
use crate::table::{Align, Table};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Bundled from `web/src`, which a test compares with them.
const SCRIPT: &str = include_str!("../../assets/explorer/explorer.js");
const STYLE: &str = include_str!("../../assets/explorer/explorer.css");

impl Explorer {
    /// The page: everything is inside, and its policy lets it load, send and run nothing else.
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let style = format!("{}{STYLE}", font_faces());
        let mut arrays = Arrays::new(self.compact);
        let data = self.data(&mut arrays);
        let blocks = arrays.blocks();
        let size: usize = blocks.iter().map(|block| block.len() + 80).sum();
        let mut page = String::with_capacity(size + style.len() + SCRIPT.len() + (1 << 16));
        page.push_str(&format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; connect-src 'none'; \
             script-src '{}'; style-src '{}'; img-src data: blob:; font-src data:; base-uri 'none'; \
             form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n<div id=\"app\">\n\
             <noscript><h1>{title}</h1><p>{}</p><p>This page needs JavaScript to draw.</p></noscript>\n\
             </div>\n",
            hash(SCRIPT),
            hash(&style),
            escape(&self.subtitle),
        ));
        block(&mut page, "application/json", "data", &json_text(&data));
        // The script draws what it has: the arrays of the first picture come before it.
        let first = blocks.len().min(FIRST);
        for (index, base64) in blocks[..first].iter().enumerate() {
            block(&mut page, BASE64, &format!("a{index}"), base64);
        }
        page.push_str(&format!("<script>{SCRIPT}</script>\n"));
        for (index, base64) in blocks.iter().enumerate().skip(first) {
            block(&mut page, BASE64, &format!("a{index}"), base64);
        }
        if let Some(samples) = self.samples.as_ref().filter(|samples| !samples.names.is_empty()) {
            let names: Value = samples.names.iter().map(|name| text(name)).collect();
            block(&mut page, "application/json", "names", &json_text(&names));
        }
        page.push_str("</body>\n</html>\n");
        page
    }

    fn data(&self, arrays: &mut Arrays) -> Value {
        let samples = self.samples.as_ref().map(|samples| samples.value(arrays));
        let features = &self.features;
        json!({
            "title": text(&self.title),
            "subtitle": text(&self.subtitle),
            "facts": pairs(&self.facts),
            "warnings": texts(&self.warnings),
            "leftOut": texts(&self.left_out),
            "components": self.components.iter().map(component).collect::<Value>(),
            "componentTable": table(&self.component_table),
            "scree": self.scree.as_ref().map(|scree| json!({
                "what": text(&scree.height_label),
                "heights": scree.heights,
                "cumulative": scree.cumulative,
                "of": text(&scree.cumulative_of),
                "errors": scree.standard_errors,
                "kept": scree.chosen.as_ref().map(|chosen| chosen.n_components),
            })),
            "rules": self.rules.iter().map(|rule| json!({
                "name": text(&rule.name), "k": rule.n_components, "note": text(&rule.note),
            })).collect::<Value>(),
            "samples": samples,
            "features": {
                "names": texts(&features.names),
                "weights": arrays.add_all(&features.weights),
                "loadings": arrays.add_all(&features.loadings),
                "correlations": arrays.add_all(&features.correlations),
                "caption": text(&features.caption),
                "center": optional(arrays, &features.center),
                "inverseScale": optional(arrays, &features.inverse_scale),
                "values": self.samples.as_ref().map(|s| arrays.add_all(&s.features)).unwrap_or(json!([])),
            },
            "trust": pairs(&self.trust),
            "certificate": self.certificate.as_ref().map(table),
            "provenance": self.provenance.iter().map(|(heading, rows)| {
                json!({"heading": text(heading), "rows": pairs(rows)})
            }).collect::<Value>(),
            "methods": texts(&self.methods),
            "image": self.image.map(|(width, height)| json!({"width": width, "height": height})),
            "compact": self.compact,
        })
    }
}

impl ExplorerSamples {
    fn value(&self, arrays: &mut Arrays) -> Value {
        let scores: Vec<Value> = self.scores.iter().take(2).map(|s| arrays.add(s)).collect();
        // The column that colours the first picture comes with its points.
        let color = self.color.and_then(|c| self.columns.get(c)).map(|c| column(c, arrays));
        let rest = self.scores.iter().skip(2).map(|s| arrays.add(s));
        let scores: Vec<Value> = scores.into_iter().chain(rest).collect();
        let columns = self.columns.iter().enumerate();
        let columns: Vec<Value> = columns
            .map(|(index, one)| match &color {
                Some(made) if Some(index) == self.color => made.clone(),
                _ => column(one, arrays),
            })
            .collect();
        let all: bool = self.numbers.len() == self.of;
        let numbers: Vec<f64> = self.numbers.iter().map(|n| *n as f64).collect();
        json!({
            "n": self.numbers.len(),
            "of": self.of,
            "numbers": if all { Value::Null } else { arrays.add(&numbers) },
            "named": !self.names.is_empty(),
            "scores": scores,
            "cosines": arrays.add_all(&self.squared_cosines),
            "monitoring": self.monitoring.as_ref().map(|m| json!({
                "tSquared": arrays.add(&m.t_squared),
                "q": arrays.add(&m.q),
                "limits": m.limits,
                "label": text(&m.limit_label),
                "caption": text(&m.caption),
            })),
            "columns": columns,
            "color": self.color,
        })
    }
}

/// Arrays that come before the script: two components and a colour.
const FIRST: usize = 3;
const BASE64: &str = "application/octet-stream";

fn column(column: &ExplorerColumn, arrays: &mut Arrays) -> Value {
    let (groups, values) = match &column.values {
        ExplorerValues::Groups { names, of } => {
            let codes: Vec<f64> = of.iter().map(|group| *group as f64).collect();
            (texts(names), arrays.add(&codes))
        }
        ExplorerValues::Numbers(values) => (Value::Null, arrays.add(values)),
    };
    json!({
        "name": text(&column.name), "groups": groups, "values": values, "association": column.association,
    })
}

fn component(component: &Component) -> Value {
    json!({
        "name": text(&component.name),
        "share": component.share.as_ref().map(|share| share.value),
        "of": component.share.as_ref().map(|share| text(&share.of)),
    })
}

fn table(table: &Table) -> Value {
    json!({
        "caption": text(&table.caption),
        "columns": table.columns.iter().map(|column| json!({
            "name": text(&column.heading()), "number": column.align == Align::Number,
        })).collect::<Value>(),
        "rows": table.rows.iter().map(|row| texts(row)).collect::<Value>(),
    })
}

fn optional(arrays: &mut Arrays, values: &[f64]) -> Value {
    if values.is_empty() { Value::Null } else { arrays.add(values) }
}

fn pairs(pairs: &[(String, String)]) -> Value {
    pairs.iter().map(|(name, value)| json!([text(name), text(value)])).collect()
}

fn texts(names: &[String]) -> Value {
    names.iter().map(|name| text(name)).collect()
}

/// Text from data, without characters that command.
fn text(name: &str) -> Value {
    Value::from(clean(name).into_owned())
}

/// JSON that no tag can end and no comment can begin.
fn json_text(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn block(page: &mut String, kind: &str, id: &str, content: &str) {
    page.push_str("<script type=\"");
    page.push_str(kind);
    page.push_str("\" id=\"");
    page.push_str(id);
    page.push_str("\">");
    page.push_str(content);
    page.push_str("</script>\n");
}

/// What a policy calls this text by.
fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}
