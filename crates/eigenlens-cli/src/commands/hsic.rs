//! `eigenlens hsic`.

use crate::arguments::{Common, Data, Reading};
use crate::failure::Failure;
use crate::input::{ReadColumns, listed, two_sets};
use crate::output::print;
use crate::reporter::Reporter;
use crate::target::classes;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use eigenlens::dependence::HsicEstimate;
use eigenlens::model::number;
use eigenlens::{Dataset, Error, Hsic, KERNELS, Kernel, Method, OptionValue, Options, Value};
use eigenlens_io::{Budget, json};
use ndarray::Array2;

#[derive(Args)]
pub struct Asked {
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    reading: Reading,
    /// The first set of columns: names, ranges, patterns, or one column of text.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required = true)]
    x: Vec<String>,
    /// The second set of columns.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', required = true)]
    y: Vec<String>,
    /// Kernel of the first set.
    #[arg(long, value_name = "KERNEL", default_value = AUTO, value_parser = words())]
    kernel_x: String,
    /// Kernel of the second set.
    #[arg(long, value_name = "KERNEL", default_value = AUTO, value_parser = words())]
    kernel_y: String,
    /// γ of the first kernel [default: by the median distance, polynomial: 1, sigmoid: 1/d].
    #[arg(long, value_name = "NUMBER")]
    gamma_x: Option<f64>,
    /// γ of the second kernel [default: by the median distance, polynomial: 1, sigmoid: 1/d].
    #[arg(long, value_name = "NUMBER")]
    gamma_y: Option<f64>,
    /// Degree of a polynomial first kernel [default: 2].
    #[arg(long, value_name = "N")]
    degree_x: Option<usize>,
    /// Degree of a polynomial second kernel [default: 2].
    #[arg(long, value_name = "N")]
    degree_y: Option<usize>,
    /// Constant of a polynomial [default: 1] or sigmoid [default: 0] first kernel.
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    coef0_x: Option<f64>,
    /// Constant of a polynomial [default: 1] or sigmoid [default: 0] second kernel.
    #[arg(long, value_name = "NUMBER", allow_hyphen_values = true)]
    coef0_y: Option<f64>,
    /// Permutations that the test draws [default: 1000].
    #[arg(long, value_name = "N", conflicts_with = "approximate")]
    permutations: Option<usize>,
    /// Test by the gamma approximation, without drawing anything.
    #[arg(long)]
    approximate: bool,
}

/// What each set of columns may have: `auto`, or a kernel.
fn words() -> impl TypedValueParser<Value = String> {
    // Columns are samples, not kernel matrices.
    let named = KERNELS.iter().filter(|k| k.name != "precomputed");
    let named = named.map(|k| PossibleValue::new(k.name).help(k.formula));
    let auto = PossibleValue::new(AUTO).help("rbf for numbers, delta for text");
    PossibleValuesParser::new([auto].into_iter().chain(named))
}

const AUTO: &str = "auto";

pub fn run(args: &Asked, common: &Common, reporter: &Reporter) -> Result<(), Failure> {
    check(args)?;
    reporter.info(format!("reading {}", listed_paths(args)));
    let [x, y] = two_sets(&args.data.data, &args.reading, common, [&args.x, &args.y])?;
    let parameters = |gamma: Option<f64>, degree: Option<usize>, coef0: Option<f64>| {
        [
            ("gamma", gamma.map(OptionValue::Number)),
            ("degree", degree.map(OptionValue::Count)),
            ("coef0", coef0.map(OptionValue::Number)),
        ]
    };
    let of_x = parameters(args.gamma_x, args.degree_x, args.coef0_x);
    let of_y = parameters(args.gamma_y, args.degree_y, args.coef0_y);
    let x = Side::new(x, &args.kernel_x, of_x, "x")?;
    let y = Side::new(y, &args.kernel_y, of_y, "y")?;
    let budget = Budget::new(common.memory.map(|memory| memory.0))?;
    let options = Options {
        threads: common.threads.map(usize::from),
        memory: budget.left(8 * (x.rows.len() + y.rows.len()) as u64),
        seed: common.seed(),
        ..Options::default()
    };
    let data = [Dataset::from(&x.rows), Dataset::from(&y.rows)];
    let names = [x.describe(&data[0], common.seed())?, y.describe(&data[1], common.seed())?];
    let hsic = Hsic::new(x.kernel, y.kernel).options(options);
    let (estimate, p_value, test, null_mean) = if args.approximate {
        let found = hsic.gamma_test(&data[0], &data[1])?;
        (found.estimate, found.p_value, "gamma approximation".to_string(), found.null_mean)
    } else {
        let permutations = args.permutations.unwrap_or(1000);
        let found = hsic.permutation_test(&data[0], &data[1], permutations)?;
        let test = format!("{permutations} permutations");
        (found.estimate, found.p_value, test, found.null_mean)
    };
    if common.json {
        let value = value(&estimate, p_value, &test, null_mean, &names);
        return print(&format!("{}\n", json::to_json_lines(&value)));
    }
    let unbiased = estimate.unbiased.map_or("not defined for so few samples".into(), number);
    print(&format!(
        "HSIC of {} samples\n  between {}\n  and     {}\n\n\
         biased          {}\nexpected        {} under independence\nunbiased        {unbiased}\n\
         alignment       {}\np-value         {} ({test})\n",
        estimate.n_samples,
        names[0],
        names[1],
        number(estimate.biased),
        number(null_mean),
        number(estimate.alignment),
        number(p_value),
    ))
}

/// One set of columns as rows of numbers, with its kernel.
struct Side {
    names: Vec<String>,
    rows: Array2<f64>,
    kernel: Kernel,
}

impl Side {
    fn new(
        (names, columns): (Vec<String>, ReadColumns),
        word: &str,
        parameters: [(&'static str, Option<OptionValue>); 3],
        side: &str,
    ) -> Result<Side, Failure> {
        let (rows, is_text) = match columns {
            ReadColumns::Numbers(rows) => (rows, false),
            ReadColumns::Text(labels) => (classes(&labels).columns(), true),
        };
        let word = match (word, is_text) {
            (AUTO | "delta", true) => "delta",
            (_, true) => {
                return Err(Failure::usage(
                    format!("the column `{}` is text, which has the delta kernel only", names[0]),
                    format!("leave out `--kernel-{side}`"),
                ));
            }
            (AUTO, false) => "rbf",
            (word, false) => word,
        };
        let spec = KERNELS.iter().find(|kernel| kernel.name == word);
        let misfit = parameters.iter().find(|(name, value)| {
            value.is_some() && !spec.is_some_and(|kernel| kernel.takes(name))
        });
        if let Some((name, _)) = misfit {
            return Err(Failure::usage(
                format!("`--{name}-{side}` does not fit the {word} kernel"),
                format!("leave out `--{name}-{side}`"),
            ));
        }
        let kernel = kernel(word, parameters)?;
        Ok(Side { names, rows, kernel })
    }

    fn describe(&self, data: &Dataset<f64>, seed: u64) -> Result<String, Failure> {
        Ok(format!("{}: {}", listed(&self.names), self.kernel.resolve(data, seed)?))
    }
}

/// The kernel that these options of kernel PCA describe.
fn kernel(
    word: &str,
    parameters: [(&'static str, Option<OptionValue>); 3],
) -> Result<Kernel, Failure> {
    let method = Method::named("kernel-pca");
    let method = method.ok_or_else(|| Error::Internal("kernel PCA is gone".into()))?;
    let mut values = method.values();
    values.set("kernel", OptionValue::Word(word.into()))?;
    for (name, value) in parameters {
        if let Some(value) = value {
            values.set(name, value)?;
        }
    }
    Ok(values.kernel()?)
}

/// Options that would be ignored are refused.
fn check(args: &Asked) -> Result<(), Failure> {
    let said = [
        ("--columns", !args.reading.columns.is_empty()),
        ("--labels", !args.reading.labels.is_empty()),
        ("--weights", args.reading.weights.is_some()),
    ];
    match said.iter().find(|(_, said)| *said) {
        Some((option, _)) => Err(Failure::usage(
            format!("`{option}` does not fit `hsic`, which takes `--x` and `--y`"),
            format!("leave out `{option}`"),
        )),
        None => Ok(()),
    }
}

fn listed_paths(args: &Asked) -> String {
    let paths: Vec<String> = args.data.data.iter().map(|p| p.display().to_string()).collect();
    listed(&paths)
}

fn value(
    estimate: &HsicEstimate,
    p_value: f64,
    test: &str,
    null_mean: f64,
    names: &[String; 2],
) -> Value {
    Value::map([
        ("n_samples", Value::from(estimate.n_samples)),
        ("x", Value::from(&names[0])),
        ("y", Value::from(&names[1])),
        ("biased", estimate.biased.into()),
        ("unbiased", estimate.unbiased.into()),
        ("alignment", estimate.alignment.into()),
        ("null_mean", null_mean.into()),
        ("p_value", p_value.into()),
        ("test", Value::from(test)),
    ])
}
