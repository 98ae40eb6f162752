//! `eigenlens transform`.

use super::fit::write_scores;
use crate::arguments::{Common, Transform};
use crate::describe::read_model;
use crate::failure::Failure;
use crate::input::Opened;
use crate::output::TableOutput;
use crate::talk::Talk;

pub fn run(asked: &Transform, common: &Common, talk: &Talk) -> Result<(), Failure> {
    if asked.reading.weights.is_some() {
        return Err(Failure::usage(
            "`--weights` does not fit `transform`: scores do not depend on weights",
            "leave out `--weights`",
        ));
    }
    let inputs = [&asked.data.data[..], std::slice::from_ref(&asked.model)].concat();
    let table = TableOutput::create(&asked.output, &inputs)?;
    let stored = read_model(&asked.model, common.threads)?;
    let opened = Opened::for_model(&asked.data.data, &stored, &asked.reading, common, talk)?;
    let (path, is_stdout) = (table.path.clone(), table.is_stdout());
    write_scores(&stored, &opened, table, talk)?;
    if !is_stdout {
        talk.say(format!("scores: {}", path.display()));
    }
    Ok(())
}
