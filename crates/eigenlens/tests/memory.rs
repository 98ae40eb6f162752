//! The memory a fit allocates against the memory its plan states: one test, alone in its process, so
//! that nothing else allocates.

#[path = "memory/configurations.rs"]
mod configurations;
#[allow(dead_code)]
#[path = "it/estimators.rs"]
mod estimators;
#[allow(dead_code)]
#[path = "it/torture_support.rs"]
mod torture_support;

use configurations::{Configuration, build, configurations};
use eigenlens::memory::{may_fail, only_asks};
use eigenlens::n_components::Need;
use eigenlens::{
    Affinity, AnyDataset, Csr, Dataset, EmbeddingModel, Error, ErrorKind, Estimator, FitContext,
    Isomap, KernelSupervisedPca, LabelKernel, LaplacianEigenmaps, Lle, LleVariant, METHODS, Mds,
    Method, Metric, Missing, NComponents, Options, Pca, Plan, Ridge, Route, Rule, SampleWeights,
    Scalar, Solver, SparsePca, SupervisedPca, Target,
};
use estimators::classes;
use ndarray::Array2;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt;
use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::SeqCst};
use torture_support::*;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

struct Counting;

/// faer keeps a packing buffer of twice the last-level cache for each thread that multiplies, for as
/// long as the thread lives. It does not depend on the data, and is told by its alignment.
fn is_packing_buffer(layout: Layout) -> bool {
    layout.align() == 4096
}

/// What is only asked for is given back before anything else is allocated.
fn is_counted(layout: Layout) -> bool {
    !is_packing_buffer(layout) && !only_asks()
}

/// Requests that may be refused before one is.
static REFUSED_AFTER: AtomicIsize = AtomicIsize::new(isize::MAX);

fn is_refused() -> bool {
    may_fail() && REFUSED_AFTER.fetch_sub(1, SeqCst) == 0
}

fn add(bytes: usize) {
    let now = NOW.fetch_add(bytes, SeqCst) + bytes;
    PEAK.fetch_max(now, SeqCst);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_refused() {
            return std::ptr::null_mut();
        }
        if is_counted(layout) {
            add(layout.size());
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_counted(layout) {
            add(layout.size());
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if is_counted(layout) {
            NOW.fetch_sub(layout.size(), SeqCst);
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may be there at once.
        if is_counted(layout) {
            add(size);
            NOW.fetch_sub(layout.size(), SeqCst);
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes at the peak beyond what was there before: of a fit, or of a fit with scores less those.
fn peak<T: Scalar>(pca: &Pca, data: &Dataset<T>) -> (usize, Plan) {
    let (alone, model) = measured(|| pca.fit(data).unwrap());
    drop(model);
    let (with_scores, (model, scores)) = measured(|| pca.fit_transform(data).unwrap());
    let returned = scores.len() * size_of::<T>();
    (alone.max(with_scores.saturating_sub(returned)), model.plan().clone())
}

/// Bytes at the peak of some work beyond what was there before.
fn measured<R>(work: impl FnOnce() -> R) -> (usize, R) {
    let before = NOW.load(SeqCst);
    PEAK.store(before, SeqCst);
    let result = work();
    (PEAK.load(SeqCst) - before, result)
}

/// Bytes at the peak of an embedding, less the coordinates that the model keeps and returns.
fn embedding_peak(fit: impl Fn() -> EmbeddingModel) -> (usize, Plan) {
    let before = NOW.load(SeqCst);
    PEAK.store(before, SeqCst);
    let model = fit();
    let peak = PEAK.load(SeqCst) - before;
    (peak.saturating_sub(8 * model.coordinates().len()), model.plan().clone())
}

struct Report {
    lines: Vec<String>,
    wrong: usize,
}

impl Report {
    fn check<T: Scalar>(&mut self, what: &str, pca: Pca, data: &Dataset<T>) {
        // Eight threads hold more at once than one.
        let threads = 8;
        let options = Options { threads: Some(threads), ..Options::default() };
        let (measured, plan) = peak(&pca.clone().options(options), data);
        self.compare(what, threads, measured, plan);
    }

    fn judge(&mut self, what: &str, measured: usize, plan: &Plan) {
        self.compare(what, 8, measured, plan.clone());
    }

    fn compare(&mut self, what: &str, threads: usize, measured: usize, plan: Plan) {
        let planned = plan.peak_memory as usize;
        let kept = measured <= planned;
        // Small plans carry a few megabytes of slack; all of them leave room for 32 threads with
        // rows that must be copied, which is most of it where there are many features.
        let tight = planned <= (32 * measured).max(16 << 20);
        self.wrong += usize::from(!kept || !tight);
        self.lines.push(format!(
            "{what:<28} {:<11} {threads} threads: {:8.2} MiB of {:8.2} planned{}{}",
            plan.route.to_string(),
            measured as f64 / 1048576.0,
            planned as f64 / 1048576.0,
            if kept { "" } else { "  BROKEN" },
            if tight { "" } else { "  LOOSE" },
        ));
    }
}

#[test]
fn plans_are_kept() {
    let mut report = Report { lines: Vec::new(), wrong: 0 };
    let normals = |n, d| Random::new(1).normals(n, d);
    let auto = |k: usize| Pca::new(k);
    let by = |k: usize, solver| Pca::new(k).solver(solver);
    {
        let x = normals(200_000, 50);
        report.check("200k × 50", auto(5), &Dataset::from(&x));
        report.check("200k × 50 f32", auto(5), &Dataset::from(&to_f32(&x)));
        report.check("200k × 50 iterative", by(5, Solver::Iterative), &Dataset::from(&x));
        report.check("200k × 50 svd", by(5, Solver::Svd), &Dataset::from(&x));
        let streamed = InBlocks::new(&x, 1000);
        report.check("200k × 50 streamed", auto(5), &Dataset::streamed(&streamed));
        let uncounted = InBlocks { rows: x.clone(), sizes: vec![77], counted: false };
        report.check("200k × 50 uncounted", auto(5), &Dataset::streamed(&uncounted));
        let weights = SampleWeights::frequency(vec![1.5; 200_000]);
        report.check("200k × 50 weighted", auto(5), &Dataset::from(&x).with_weights(weights));
        let fortran = x.t().as_standard_layout().into_owned().reversed_axes();
        report.check("200k × 50 by columns", auto(5), &Dataset::from(&fortran));
        let tiny = x.mapv(|v| v * 1e-200);
        report.check("200k × 50 tiny", auto(5), &Dataset::from(&tiny));
        let rule = |rule| Pca::new(NComponents::Rule(rule));
        report.check("200k × 50 minka", rule(Rule::Minka), &Dataset::from(&x));
        let part = x.slice(ndarray::s![..20_000, ..30]);
        report.check("20k × 30 parallel", rule(Rule::ParallelAnalysis), &Dataset::from(part));
        let part = x.slice(ndarray::s![..2000, ..12]);
        report.check("2000 × 12 held out", rule(Rule::CrossValidation), &Dataset::from(part));
    }
    {
        let mut random = Random::new(7);
        // Directions that stand clear: of noise alone an iteration takes hundreds of steps.
        let missing_counts =
            distinct(7, 20_000, 50).mapv(|v| if random.below(5) == 0 { f64::NAN } else { v });
        let data = Dataset::from(&missing_counts).with_missing(Missing::Em);
        report.check("20k × 50 em", auto(5), &data);
        let streamed = InBlocks::new(&missing_counts, 100);
        let data = Dataset::streamed(&streamed).with_missing(Missing::Em);
        report.check("20k × 50 em streamed", auto(5), &data);
        // Few entries are kept from pass to pass.
        let few = distinct(9, 20_000, 50).mapv(|v| if random.below(8) == 0 { v } else { f64::NAN });
        report.check("20k × 50 em few", auto(5), &Dataset::from(&few).with_missing(Missing::Em));
        let wide = distinct(8, 300, 3000).mapv(|v| if random.below(9) == 0 { f64::NAN } else { v });
        let data = Dataset::from(&wide).with_missing(Missing::Em);
        report.check("300 × 3000 em", auto(3), &data);
    }
    {
        let x = normals(20_000, 300);
        report.check("20k × 300", auto(10), &Dataset::from(&x));
        report.check("20k × 300 f32", auto(10), &Dataset::from(&to_f32(&x)));
        report.check("20k × 300 all", Pca::new(NComponents::All), &Dataset::from(&x));
    }
    {
        let x = distinct(2, 4000, 500);
        for solver in [Solver::Auto, Solver::Covariance, Solver::Iterative, Solver::Svd] {
            report.check("4000 × 500", by(10, solver), &Dataset::from(&x));
        }
        report.check("4000 × 500 f32", by(10, Solver::Covariance), &Dataset::from(&to_f32(&x)));
        report.check("4000 × 500 k = 100", by(100, Solver::Covariance), &Dataset::from(&x));
        report.check("4000 × 500 randomized", by(10, ROUTES[5]), &Dataset::from(&x));
        let streamed = InBlocks::new(&x, 100);
        report.check("4000 × 500 streamed", auto(10), &Dataset::streamed(&streamed));
        report.check(
            "4000 × 500 share",
            Pca::new(NComponents::VarianceShare(0.9)),
            &Dataset::from(&x),
        );
    }
    {
        let x = distinct(3, 1500, 1200);
        for solver in [Solver::Auto, Solver::Covariance, Solver::Dual, Solver::Iterative] {
            report.check("1500 × 1200", by(10, solver), &Dataset::from(&x));
        }
        report.check("1500 × 1200 k = 100", auto(100), &Dataset::from(&x));
    }
    {
        let x = distinct(4, 100, 20_000);
        for solver in [Solver::Auto, Solver::Dual, Solver::Iterative, Solver::Svd] {
            report.check("100 × 20 000", by(10, solver), &Dataset::from(&x));
        }
        let fortran = x.t().as_standard_layout().into_owned().reversed_axes();
        report.check("100 × 20 000 by columns", auto(10), &Dataset::from(&fortran));
        report.check("100 × 20 000 f32", auto(10), &Dataset::from(&to_f32(&x)));
    }
    {
        // Line 46.
        let x = to_f32(&normals(50, 70_000));
        report.check("50 × 70 000 f32", auto(5), &Dataset::from(&x));
    }
    {
        let x: Csr<f64> = sparse(20_000, 5000, 50);
        report.check("sparse 20k × 5k 1 %", auto(10), &Dataset::sparse(&x));
        let x: Csr<f64> = sparse(900, 400, 4);
        for solver in [Solver::Auto, Solver::Covariance, Solver::Dual, Solver::Iterative] {
            report.check("sparse 900 × 400 1 %", by(10, solver), &Dataset::sparse(&x));
        }
        let x: Csr<f64> = sparse(200, 30_000, 300);
        for solver in [Solver::Auto, Solver::Iterative] {
            report.check("sparse 200 × 30k 1 %", by(10, solver), &Dataset::sparse(&x));
        }
    }
    supervised(&mut report);
    for (n, d) in [(1500, 3), (900, 40)] {
        let x = normals(n, d);
        let data = Dataset::from(&x);
        let options = || Options { threads: Some(8), ..Options::default() };
        let mut check = |what: &str, fit: &dyn Fn() -> EmbeddingModel| {
            let (measured, plan) = embedding_peak(fit);
            report.compare(&format!("{n} × {d} {what}"), 8, measured, plan);
        };
        let isomap = Isomap::new(2).neighbors(12).bridges(true).options(options());
        check("isomap", &|| isomap.fit(&data).unwrap());
        check("landmarks", &|| isomap.clone().landmarks(300).fit(&data).unwrap());
        let l1 = Mds::new(2).metric(Metric::Manhattan).options(options());
        check("mds", &|| l1.fit(&data).unwrap());
        let laplacian = LaplacianEigenmaps::new(2).bridges(true).options(options());
        check("laplacian", &|| laplacian.fit(&data).unwrap());
        let rbf = laplacian.clone().bridges(false).affinity(Affinity::Rbf { gamma: None });
        check("laplacian rbf", &|| rbf.fit(&data).unwrap());
        let a = ndarray::Array2::from_shape_fn((n, n), |(i, j)| 1.0 / (1.0 + i.abs_diff(j) as f64));
        let given = rbf.clone().affinity(Affinity::Precomputed);
        check("laplacian of affinities", &|| given.fit(&a).unwrap());
        let ring = a.mapv(|v| if v > 0.05 { v } else { 0.0 });
        let ring = Dataset::from(&ring).to_csr().unwrap();
        check("laplacian of a sparse graph", &|| given.fit(&ring).unwrap());
        let lle = Lle::new(2).bridges(true).options(options());
        check("lle", &|| lle.fit(&data).unwrap());
        for (name, variant) in LleVariant::NAMES {
            let lle = lle.clone().neighbors(20).variant(variant);
            check(&format!("{name} lle"), &|| lle.fit(&data).unwrap());
        }
    }
    println!("{}", report.lines.join("\n"));
    budgets();
    sparse_components();
    every_method_and_kind();
    every_configuration();
    refusals();
    assert_eq!(report.wrong, 0, "\n{}", report.lines.join("\n"));
}

/// Supervised PCA: fits with scores, less those.
fn supervised(report: &mut Report) {
    fn check<T: Scalar>(
        report: &mut Report,
        what: &str,
        fit: SupervisedPca,
        data: &Dataset<T>,
        target: &Target,
    ) {
        let options = Options { threads: Some(8), ..Options::default() };
        let fit = fit.options(options);
        let (bytes, (model, scores)) = measured(|| fit.fit_transform(data, target).unwrap());
        let returned = scores.len() * size_of::<T>();
        report.judge(what, bytes.saturating_sub(returned), model.plan());
    }
    let ten = |n: usize| Target::classes((0..n).map(|i| (i * 7 % 10).to_string()));
    let linear = |k: usize| SupervisedPca::new(k).label_kernel(LabelKernel::Linear);
    let x = Random::new(1).normals(200_000, 50);
    let data = Dataset::from(&x);
    check(report, "200k × 50, 10 classes", SupervisedPca::new(9), &data, &ten(200_000));
    let numbers = Target::numbers(Random::new(2).normals(200_000, 3));
    check(report, "200k × 50, 3 numbers", linear(3), &data, &numbers);
    let half = SupervisedPca::new(5).supervision(0.5);
    check(report, "200k × 50, half", half.clone(), &data, &ten(200_000));
    let part = x.slice(ndarray::s![..20_000, ..]);
    let number = Target::numbers(Random::new(3).normals(20_000, 1));
    check(report, "20k × 50, gaussian", SupervisedPca::new(3), &Dataset::from(part), &number);
    let streamed = InBlocks::new(&x, 1000);
    let fit = SupervisedPca::new(2);
    check(report, "200k × 50 streamed", fit.clone(), &Dataset::streamed(&streamed), &ten(200_000));
    let x = distinct(4, 100, 20_000);
    check(report, "100 × 20 000, 10 classes", fit.clone(), &Dataset::from(&x), &ten(100));
    check(report, "100 × 20 000, half", half, &Dataset::from(&x), &ten(100));
    let x: Csr<f64> = sparse(20_000, 5000, 50);
    check(report, "sparse 20k × 5k, 10 classes", fit, &Dataset::sparse(&x), &ten(20_000));
    // The kernel is never kept: a matrix of these would be 200 MB.
    let x = Random::new(5).normals(5000, 10);
    let options = Options { threads: Some(8), ..Options::default() };
    let fit = KernelSupervisedPca::new(2).options(options);
    let (bytes, model) = measured(|| fit.fit(&x, &ten(5000)).unwrap());
    report.judge("5000 × 10, kernel", bytes, model.plan());
}

/// Rows with `stored` entries each, made without a dense matrix.
fn sparse(n: usize, d: usize, stored: usize) -> Csr<f64> {
    let mut random = Random::new(9);
    let mut columns = Vec::with_capacity(n * stored);
    let mut values = Vec::with_capacity(n * stored);
    for _ in 0..n {
        let mut own: Vec<u32> = (0..stored).map(|_| random.below(d) as u32).collect();
        own.sort_unstable();
        // Features of falling size: noise alone would take an iteration hundreds of steps.
        values.extend(own.iter().map(|&column| random.normal() * 0.99f64.powi(column as i32)));
        columns.extend(own);
    }
    Csr::new(n, d, (0..=n).map(|i| i * stored).collect(), columns, values).unwrap()
}

/// Sparse PCA of many features: within its plan, and never a matrix of all pairs.
fn sparse_components() {
    let (n, d) = (60, 3000);
    let x: Array2<f64> = distinct(6, n, d);
    let data = Dataset::from(&x);
    for pca in [
        SparsePca::cardinality(3, 20),
        SparsePca::non_zeros(3, 20),
        SparsePca::non_zeros(3, 20).ridge(Ridge::Infinite),
    ] {
        let options = Options { threads: Some(8), max_iterations: 30, ..Options::default() };
        let pca = pca.options(options);
        let planned = pca.plan(&data).unwrap().peak_memory as usize;
        let before = NOW.load(SeqCst);
        PEAK.store(before, SeqCst);
        let model = pca.fit(&data).unwrap();
        let measured = PEAK.load(SeqCst) - before;
        assert_eq!(model.plan().route, Route::Iterative);
        assert!(measured <= planned, "{measured} bytes of {planned} planned");
        assert!(measured < 8 * d * d, "{measured} bytes would hold all pairs");
    }
}

/// Under a budget: a route within it, kept; or a refusal that says how much is needed.
fn budgets() {
    let x: Array2<f64> = distinct(5, 3000, 900);
    let data = Dataset::from(&x);
    let with = |memory: Option<u64>, k: usize| {
        let options = Options { memory, threads: Some(8), ..Options::default() };
        Pca::new(k).options(options)
    };
    let free = with(None, 60).plan(&data).unwrap();
    let Err(Error::Memory { needed, .. }) = with(Some(1), 60).plan(&data) else {
        panic!("one byte is enough?")
    };
    assert!(needed <= free.peak_memory);
    for budget in [needed, needed + (needed / 10), free.peak_memory] {
        let (measured, plan) = peak(&with(Some(budget), 60), &data);
        assert!(plan.peak_memory <= budget, "{plan} for {budget}");
        assert!(measured as u64 <= budget, "{measured} bytes of {budget}: {plan}");
    }
    assert!(
        matches!(with(Some(needed - 1), 60).fit(&data), Err(Error::Memory { needed: n, .. }) if n == needed)
    );
    // The covariance of these is 6.5 MB; a budget below that leaves the iteration.
    let plan = with(None, 3).solver(Solver::Covariance).plan(&data).unwrap();
    let lean = with(None, 3).solver(Solver::Iterative).plan(&data).unwrap();
    if lean.peak_memory < plan.peak_memory {
        let (measured, chosen) = peak(&with(Some(lean.peak_memory), 3), &data);
        assert_eq!(chosen.route, Route::Iterative);
        assert!(measured as u64 <= lean.peak_memory);
    }
}

/// Every method, every kind of number of components, budgets from ample to too small: what is allocated
/// stays within an accepted budget, or the fit is refused. A kind that a method does not take is its own
/// usage error, whatever the budget.
fn every_method_and_kind() {
    use NComponents::{All, Fixed, VarianceShare};
    let mut kinds = vec![Fixed(5), VarianceShare(0.1), VarianceShare(0.6), VarianceShare(1.0), All];
    kinds.extend(Rule::all().into_iter().map(NComponents::Rule));
    kinds.extend([Rule::CumulativeShare(0.5), Rule::Ratio(1e-3)].map(NComponents::Rule));
    let (tables, plain) = (Tables::new(700, 650), Configuration::new());
    let mut wrong = Vec::new();
    for method in METHODS {
        let mut seen = Seen::default();
        for (data, target) in &tables.of(method) {
            for kind in &kinds {
                seen.fits(&Case { method, configuration: &plain, kind, data, target });
            }
        }
        println!("{:<24} {seen}", method.name);
        assert!(seen.kept > 0 && seen.refused > 0, "{}: both must be seen", method.name);
        wrong.append(&mut seen.wrong);
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The same for everything that methods may be asked for otherwise, one option at a time.
fn every_configuration() {
    use NComponents::{Fixed, VarianceShare};
    // A number, one that stops early, one of the whole spectrum.
    let kinds = [Fixed(5), VarianceShare(0.6), NComponents::Rule(Rule::Minka)];
    let tables = Tables::new(240, 200);
    let mut wrong = Vec::new();
    for method in METHODS {
        let plain = [Configuration::new()];
        for configuration in plain.iter().chain(&configurations(method)) {
            let mut seen = Seen::default();
            for (data, target) in &tables.of(method) {
                for kind in &kinds {
                    seen.fits(&Case { method, configuration, kind, data, target });
                }
            }
            println!("{:<24} {configuration:?}: {seen}", method.name);
            if seen.kept == 0 {
                wrong.push(format!("{} {configuration:?}: never fitted", method.name));
            }
            wrong.append(&mut seen.wrong);
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Whichever of our buffers the system refuses, it is an error about memory: in every method, with scores.
fn refusals() {
    let (tables, plain) = (Tables::new(120, 30), Configuration::new());
    for method in METHODS {
        let (data, target) = &tables.of(method)[0];
        let options = Options { threads: Some(2), max_iterations: 40, ..Options::default() };
        let estimator =
            build(method, &plain, &NComponents::Fixed(3), &options, &data.shape()).unwrap();
        for refused in 0.. {
            REFUSED_AFTER.store(refused, SeqCst);
            let mut context = FitContext::new().with_target(Some(target)).with_scores(true);
            let fitted = estimator.fit(data, &mut context).map(drop);
            let is_over = REFUSED_AFTER.swap(isize::MAX, SeqCst) >= 0;
            match fitted {
                Err(error) if !is_over => {
                    assert_eq!(error.kind(), ErrorKind::Memory, "{} {refused}", method.name);
                }
                other => {
                    other.unwrap_or_else(|e| panic!("{} {refused}: {e}", method.name));
                    assert!(is_over && refused > 0, "{}: nothing is asked for", method.name);
                    break;
                }
            }
        }
    }
}

/// Data of which fits are made.
struct Tables {
    /// A flat spectrum, of which shares need many components.
    flat: Array2<f32>,
    falling: Array2<f64>,
    /// Nothing below 0, for kernels of counts.
    counts: Array2<f64>,
    /// Symmetric and positive, for methods that take one.
    covariance: Array2<f64>,
    gappy: Array2<f64>,
    /// Fewer samples than features, with gaps.
    gappy_wide: Array2<f64>,
    /// Many samples, so that their labels weigh something.
    tall: Array2<f64>,
}

impl Tables {
    fn new(n: usize, d: usize) -> Tables {
        let falling = distinct(9, 400, 60);
        let with_gaps = |x: Array2<f64>| {
            Array2::from_shape_fn(x.dim(), |(i, f)| match (i * 7 + f * 3) % 11 {
                0 => f64::NAN,
                _ => x[[i, f]],
            })
        };
        Tables {
            flat: Random::new(8).normals(n, d).mapv(|v| v as f32),
            counts: falling.mapv(f64::abs),
            gappy: with_gaps(falling.slice(ndarray::s![..300, ..40]).to_owned()),
            gappy_wide: with_gaps(distinct(10, 60, 150)),
            covariance: falling.t().dot(&falling) / 400.0,
            falling,
            tall: distinct(11, 2000, 12),
        }
    }

    /// What a method takes, with a target for each.
    fn of(&self, method: &Method) -> Vec<(AnyDataset<'_>, Target)> {
        let named =
            |n: usize| classes(Random::new(4).normals(n, 1).column(0).mapv(|v| 6.0 * v).view());
        let mut tables = vec![
            (AnyDataset::from(Dataset::from(&self.flat)), named(self.flat.nrows())),
            (AnyDataset::from(Dataset::from(&self.falling)), named(self.falling.nrows())),
        ];
        if method.options().any(|option| option.name == "input") {
            let covariance = &self.covariance;
            tables.push((AnyDataset::from(Dataset::from(covariance)), named(covariance.nrows())));
        }
        if method.options().any(|option| option.name == "kernel") {
            tables
                .push((AnyDataset::from(Dataset::from(&self.counts)), named(self.counts.nrows())));
        }
        if method.takes_missing {
            for x in [&self.gappy, &self.gappy_wide] {
                let data = Dataset::from(x).with_missing(Missing::Em);
                tables.push((AnyDataset::from(data), named(x.nrows())));
            }
        }
        if method.supervised {
            // A Gaussian kernel of three numbers has a wide factor.
            let numbers = Target::numbers(Random::new(6).normals(self.tall.nrows(), 3));
            tables.push((AnyDataset::from(Dataset::from(&self.tall)), numbers));
        }
        tables
    }
}

/// One fit, but for its budget.
struct Case<'a, 'd> {
    method: &'static Method,
    configuration: &'a Configuration,
    kind: &'a NComponents,
    data: &'a AnyDataset<'d>,
    target: &'a Target,
}

impl Case<'_, '_> {
    fn within(&self, memory: Option<u64>) -> eigenlens::Result<Box<dyn Estimator>> {
        let options =
            Options { memory, threads: Some(4), max_iterations: 40, ..Options::default() };
        build(self.method, self.configuration, self.kind, &options, &self.data.shape())
    }

    /// Searches and iterations that take their time with many features.
    fn takes_long(&self, plan: &Plan) -> bool {
        let draws = matches!(self.kind, NComponents::Rule(rule) if rule.need() == Need::Data);
        let sparse = self.method.name == "sparse-pca" && *self.kind == NComponents::All;
        let iterates = plan.route == Route::Em && !matches!(self.kind, NComponents::Fixed(_));
        let d = self.data.n_features();
        let most = if self.configuration.is_empty() { 400 } else { 100 };
        (d > 60 && (sparse || iterates)) || (d > most && draws)
    }
}

impl fmt::Display for Case<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Case { method, configuration, kind, data, .. } = self;
        let (n, d) = (data.n_samples().unwrap_or(0), data.n_features());
        write!(f, "{} {configuration:?}, {kind:?}, {n} × {d}", method.name)
    }
}

/// How fits under budgets went.
#[derive(Default)]
struct Seen {
    kept: usize,
    refused: usize,
    wrong: Vec<String>,
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} kept, {} refused", self.kept, self.refused)
    }
}

impl Seen {
    fn fits(&mut self, case: &Case) {
        let plan =
            match case.within(None).and_then(|e| e.plan(&case.data.shape(), Some(case.target))) {
                Ok(plan) => plan,
                Err(error) => return self.usage(case, &error),
            };
        if case.takes_long(&plan) {
            return;
        }
        let likely = plan.likely_memory;
        // Too small, just enough for what is likely, ample.
        for budget in [likely / 3, likely, 8 * likely + (256 << 20)] {
            let Ok(estimator) = case.within(Some(budget)) else { return };
            let mut context = FitContext::new().with_target(Some(case.target));
            let (peak, outcome) = measured(|| estimator.fit(case.data, &mut context).map(drop));
            let mebibytes = |bytes: u64| bytes as f64 / 1048576.0;
            match outcome {
                Ok(()) => {
                    if peak as u64 > budget {
                        let (used, allowed) = (mebibytes(peak as u64), mebibytes(budget));
                        self.wrong.push(format!("{case}: {used:.1} of {allowed:.1} MiB, {plan}"));
                    }
                    self.kept += 1;
                }
                Err(Error::Memory { needed, budget: told, .. }) => {
                    assert!(needed > told, "{case}: {needed} of {told}");
                    self.refused += 1;
                }
                Err(error) => self.usage(case, &error),
            }
        }
    }

    /// The only other way out: the method does not take this, and says so.
    fn usage(&mut self, case: &Case, error: &Error) {
        let plain = case.configuration.is_empty();
        // Not every method that takes gaps integrates them out, nor takes numbers for a target.
        let usual = case.data.missing() != Missing::Em && case.target.class_names().is_some();
        let takes = plain && usual && matches!(case.kind, NComponents::Fixed(_));
        let own = matches!(
            error,
            Error::NotDefined { .. } | Error::Unsupported { .. } | Error::Negative { .. }
        );
        // Samples are no covariance matrix.
        let of_samples = matches!(error, Error::Shape { .. })
            && case.configuration.iter().any(|(name, _)| *name == "input");
        if of_samples {
            return;
        }
        if takes || !(own || error.kind() == ErrorKind::Usage) {
            self.wrong.push(format!("{case}: {error:?}"));
        }
    }
}
