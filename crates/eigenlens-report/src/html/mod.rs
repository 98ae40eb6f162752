//! A self-contained page: no network, no script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::names::escape;
use crate::picture::Picture;
use crate::table::Table;

/// A report as one HTML file, with pictures, style and fonts inside.
///
/// The page forbids itself, by a content security policy, to load or run anything; all text is
/// escaped. It follows the reader's light or dark preference, prints well and reads aloud.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Title of the page.
    pub title: String,
    /// A line under the title: what was analysed.
    pub subtitle: String,
    /// The facts at the top: name and value.
    pub summary: Vec<(String, String)>,
    /// What the reader has to know before using the result.
    pub warnings: Vec<String>,
    /// The parts of the page, each with an entry in the contents.
    pub sections: Vec<Section>,
    /// How the result was computed, in a few sentences, at the end.
    pub methods: Vec<String>,
    /// The last line, such as program and version.
    pub footer: String,
}

/// A part of a [`Report`].
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// Something in a [`Section`].
#[derive(Clone, Debug)]
pub enum Block {
    /// A paragraph.
    Text(String),
    /// A table. Boxed, so that a short paragraph is a small value.
    Table(Box<Table>),
    /// A picture and its caption; the caption may be empty.
    Figure(Box<Picture>, String),
}

const STYLE: &str = include_str!("style.css");
const REGULAR: &[u8] = include_bytes!("../../fonts/Inter-Regular.woff2");
const SEMIBOLD: &[u8] = include_bytes!("../../fonts/Inter-SemiBold.woff2");

impl Report {
    /// The page.
    pub fn to_html(&self) -> String {
        let title = escape(&self.title);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; \
             form-action 'none'\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{title}</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n\
             <a class=\"skip\" href=\"#content\">Skip to the content</a>\n<header>\n<h1>{title}</h1>\n",
            font_faces(),
        );
        if !self.subtitle.is_empty() {
            page.push_str(&format!("<p class=\"subtitle\">{}</p>\n", escape(&self.subtitle)));
        }
        page.push_str("</header>\n");
        self.contents(&mut page);
        page.push_str("<main id=\"content\">\n");
        self.warnings(&mut page);
        self.summary(&mut page);
        for (index, section) in self.sections.iter().enumerate() {
            section.write(&mut page, index + 1);
        }
        if !self.methods.is_empty() {
            page.push_str("<section id=\"methods\">\n<h2>Methods</h2>\n");
            for paragraph in &self.methods {
                page.push_str(&format!("<p>{}</p>\n", escape(paragraph)));
            }
            page.push_str("</section>\n");
        }
        page.push_str("</main>\n");
        if !self.footer.is_empty() {
            page.push_str(&format!("<footer>{}</footer>\n", escape(&self.footer)));
        }
        page.push_str("</body>\n</html>\n");
        page
    }

    fn contents(&self, page: &mut String) {
        if self.sections.len() < 2 {
            return;
        }
        page.push_str("<nav aria-label=\"Contents\"><ul>\n");
        for (index, section) in self.sections.iter().enumerate() {
            let (number, title) = (index + 1, escape(&section.title));
            page.push_str(&format!("<li><a href=\"#part-{number}\">{title}</a></li>\n"));
        }
        if !self.methods.is_empty() {
            page.push_str("<li><a href=\"#methods\">Methods</a></li>\n");
        }
        page.push_str("</ul></nav>\n");
    }

    fn warnings(&self, page: &mut String) {
        if self.warnings.is_empty() {
            return;
        }
        page.push_str(
            "<section class=\"warnings\" aria-label=\"Warnings\">\n<h2>Warnings</h2>\n<ul>\n",
        );
        for warning in &self.warnings {
            page.push_str(&format!("<li>{}</li>\n", escape(warning)));
        }
        page.push_str("</ul>\n</section>\n");
    }

    fn summary(&self, page: &mut String) {
        if self.summary.is_empty() {
            return;
        }
        page.push_str("<section aria-label=\"Summary\">\n<dl class=\"summary\">\n");
        for (name, value) in &self.summary {
            let (name, value) = (escape(name), escape(value));
            page.push_str(&format!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
        }
        page.push_str("</dl>\n</section>\n");
    }
}

impl Section {
    fn write(&self, page: &mut String, number: usize) {
        let title = escape(&self.title);
        page.push_str(&format!("<section id=\"part-{number}\">\n<h2>{title}</h2>\n"));
        for block in &self.blocks {
            match block {
                Block::Text(text) => page.push_str(&format!("<p>{}</p>\n", escape(text))),
                Block::Table(table) => page.push_str(&table.to_html()),
                Block::Figure(picture, caption) => {
                    page.push_str("<figure>\n");
                    page.push_str(picture.svg());
                    if !caption.is_empty() {
                        page.push_str(&format!("<figcaption>{}</figcaption>\n", escape(caption)));
                    }
                    page.push_str("</figure>\n");
                }
            }
        }
        page.push_str("</section>\n");
    }
}

/// The fonts of pages, inside their style.
pub(crate) fn font_faces() -> String {
    [font_face(400, REGULAR), font_face(600, SEMIBOLD)].concat()
}

fn font_face(weight: u16, file: &[u8]) -> String {
    format!(
        "@font-face{{font-family:Inter;font-style:normal;font-weight:{weight};\
         src:url(data:font/woff2;base64,{}) format(\"woff2\")}}\n",
        STANDARD.encode(file)
    )
}
