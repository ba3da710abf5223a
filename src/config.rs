//! Settings of `.coatepec.yml`: the only reader of settings.
