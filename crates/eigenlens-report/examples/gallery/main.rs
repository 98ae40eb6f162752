//! Draws every picture from real and seeded data into a folder, to be looked at:
//! `cargo run --release -p eigenlens-report --example gallery -- FOLDER`.

mod figures;
mod hard;
mod numbers;

use std::path::Path;

use eigenlens_report::html::{Block, Report, Section};
use eigenlens_report::{Column, Error, Picture, Table, text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "target/gallery".to_owned());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let mut pictures = figures::all()?;
    pictures.extend(hard::all()?);
    for (name, picture) in &pictures {
        std::fs::write(folder.join(format!("{name}.svg")), picture.svg())?;
        std::fs::write(folder.join(format!("{name}.png")), picture.png(Picture::SCALE)?)?;
        println!("{name}: {} kB of SVG", picture.svg().len() / 1024);
    }
    std::fs::write(folder.join("report.html"), report(&pictures)?.to_html())?;
    for (unicode, color) in [(true, true), (true, false), (false, false)] {
        let options = text::Options { width: 76, unicode, color };
        println!("\n{}", text::scree(&figures::arrests_scree(), &options));
        println!("{}", text::scores(&figures::iris_scores(), &options));
    }
    println!("{}", table().to_text(76));
    Ok(())
}

fn report(pictures: &[(String, Picture)]) -> Result<Report, Error> {
    let figures = pictures.iter().map(|(name, picture)| {
        Block::Figure(Box::new(picture.clone()), format!("The picture {name}."))
    });
    Ok(Report {
        title: "PCA of USArrests".to_owned(),
        subtitle: "usarrests/data.csv, 50 samples and 4 features, scaled to unit variance"
            .to_owned(),
        summary: [
            ("Samples", "50"),
            ("Features", "4"),
            ("Components", "2"),
            ("Explained variance", "86.8 %"),
            ("Solver", "covariance"),
            ("Largest residual", "1.2×10⁻¹⁵"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
        warnings: vec!["Column `urban_pop` looks like an identifier.".to_owned()],
        sections: vec![
            Section {
                title: "Components".to_owned(),
                blocks: vec![
                    Block::Text("The components in the order of their variance.".to_owned()),
                    Block::Table(Box::new(table())),
                ],
            },
            Section { title: "Pictures".to_owned(), blocks: figures.collect() },
        ],
        methods: vec![
            "Columns were centred and scaled; signs follow the largest entry.".to_owned(),
        ],
        footer: "eigenlens 0.1.0".to_owned(),
    })
}

fn table() -> Table {
    let row = |cells: [&str; 5]| cells.map(str::to_owned).to_vec();
    Table {
        caption: "Certificate".to_owned(),
        columns: vec![
            Column::text("component"),
            Column::number("variance", ""),
            Column::number("share", "%"),
            Column::number("residual", ""),
            Column::number("angle bound", "rad"),
        ],
        rows: vec![
            row(["PC1", "2.480", "62.01", "8.9e-16", "1.1e-15"]),
            row(["PC2", "0.990", "24.74", "1.2e-15", "3.0e-15"]),
            row(["PC3", "0.357", "8.91", "7.7e-16", "4.2e-15"]),
        ],
    }
}
