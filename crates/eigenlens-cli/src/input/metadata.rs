//! Labels from a second table, found by a column that both have.

use super::{Opened, listed, options};
use crate::arguments::{Common, Metadata as MetadataArgs, Reading};
use crate::failure::Failure;
use crate::reporter::Reporter;
use eigenlens_io::{Labels, Metadata};
use std::borrow::Cow;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

/// A second table beside the data.
pub struct JoinedMetadata {
    metadata: Metadata,
    names: Vec<String>,
    /// Where the key is among the data's own labels.
    key: usize,
    unmatched: Mutex<Unmatched>,
    told: OnceLock<()>,
    strict: bool,
}

/// Samples that the second table does not have.
#[derive(Default)]
struct Unmatched {
    /// Samples before this one were looked up.
    seen: usize,
    count: usize,
    /// The first few keys.
    keys: Vec<String>,
}

impl Opened {
    /// With the columns of a second table as further labels, where one is named.
    pub fn with_metadata(
        mut self,
        args: &MetadataArgs,
        common: &Common,
        reporter: &Reporter,
    ) -> Result<Opened, Failure> {
        let Some(path) = &args.metadata else { return Ok(self) };
        let paths = [path.clone()];
        let table = options::open(&paths, &Reading::default(), None, common)?;
        let own = self.label_names();
        let names: Vec<&str> = table.columns().iter().map(|c| c.name.as_str()).collect();
        let by = match &args.by {
            Some(by) => by.clone(),
            None => shared(&own, &names, path)?,
        };
        let key = self.label(&by)?;
        let metadata = Metadata::read(&table, &by)?;
        // A name that the data have too gives way, so that both can be asked for.
        let taken = |name: &str| own.iter().chain(self.feature_names()).any(|one| one == name);
        let renamed = metadata.names().iter().map(|name| match taken(name) {
            true => format!("{name}_metadata"),
            false => name.clone(),
        });
        let names: Vec<String> = renamed.collect();
        let (rows, of) = (metadata.n_rows(), path.display());
        reporter.info(format!("metadata: {of} ({rows} rows) by `{by}`: {}", listed(&names)));
        let (unmatched, told) = (Mutex::default(), OnceLock::new());
        let strict = common.strict;
        self.metadata = Some(JoinedMetadata { metadata, names, key, unmatched, told, strict });
        Ok(self)
    }

    /// The data's own labels and those of the second table; `first` is the number of the first sample.
    pub(super) fn all_labels<'l>(&self, own: &'l [Labels], first: usize) -> Cow<'l, [Labels]> {
        match &self.metadata {
            Some(metadata) => metadata.joined(own, first),
            None => Cow::Borrowed(own),
        }
    }

    /// Says which samples the second table does not have, once all were looked up.
    pub(super) fn tell_unmatched(&self, reporter: &Reporter) -> Result<(), Failure> {
        self.metadata.as_ref().map_or(Ok(()), |metadata| metadata.tell(reporter))
    }
}

impl JoinedMetadata {
    /// What its columns are called among the labels.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.names.iter().cloned()
    }

    pub(super) fn joined<'l>(&self, own: &'l [Labels], first: usize) -> Cow<'l, [Labels]> {
        let nothing = Labels::default();
        let keys = own.get(self.key).unwrap_or(&nothing);
        let joined = self.metadata.join(keys);
        let mut unmatched = self.unmatched.lock().unwrap_or_else(PoisonError::into_inner);
        // Another reading finds the same.
        if first >= unmatched.seen {
            unmatched.seen = first + keys.len();
            unmatched.count += joined.unmatched.len();
            let room = SHOWN.saturating_sub(unmatched.keys.len());
            let named = joined.unmatched.iter().take(room).filter_map(|&row| keys.get(row));
            unmatched.keys.extend(named.map(|key| format!("`{}`", key.escape_debug())));
        }
        Cow::Owned([own, &joined.columns].concat())
    }

    pub(super) fn tell(&self, reporter: &Reporter) -> Result<(), Failure> {
        let unmatched = self.unmatched.lock().unwrap_or_else(PoisonError::into_inner);
        let Unmatched { seen, count, keys } = &*unmatched;
        if *count == 0 || self.told.set(()).is_err() {
            return Ok(());
        }
        let more = if count > &keys.len() { " and others" } else { "" };
        let words =
            format!("{count} of {seen} samples are not in the metadata: {}{more}", keys.join(", "));
        if self.strict {
            return Err(Failure::Check(words));
        }
        reporter.warn(words);
        Ok(())
    }
}

/// Keys that are named.
const SHOWN: usize = 5;

/// The one column that both tables have.
fn shared(labels: &[String], columns: &[&str], path: &Path) -> Result<String, Failure> {
    let both: Vec<String> =
        labels.iter().filter(|label| columns.contains(&label.as_str())).cloned().collect();
    match &both[..] {
        [one] => Ok(one.clone()),
        [] => Err(Failure::usage(
            format!(
                "the data have the label columns {}, and `{}` has {}: none is in both",
                if labels.is_empty() { "(none)".into() } else { listed(labels) },
                path.display(),
                listed(&columns.iter().map(|c| c.to_string()).collect::<Vec<_>>())
            ),
            "use `--labels COLUMN` to make a column of the data a label, and `--by COLUMN`",
        )),
        [first, ..] => Err(Failure::usage(
            format!("both tables have the columns {}", listed(&both)),
            format!("say by which one samples are found, such as `--by '{first}'`"),
        )),
    }
}
