//! Pictures, tables and pages: plain data in, SVG, PNG, text and HTML out. No numerics here.
