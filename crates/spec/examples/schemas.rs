//! Writes the JSON schema of each form, and the metric registry, into a folder: `cargo run -p tameshi-spec --example schemas -- FOLDER`.

use std::path::Path;
use tameshi_spec::{
    plan::Plan,
    profile::{ArrayProfile, DeviceProfile, EngineProfile, HostProfile},
    run::RunSpec,
    study::Study,
};

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).expect("the folder to write to");
    let schemas = [
        ("study", schemars::schema_for!(Study)),
        ("device_profile", schemars::schema_for!(DeviceProfile)),
        ("array_profile", schemars::schema_for!(ArrayProfile)),
        ("host_profile", schemars::schema_for!(HostProfile)),
        ("engine_profile", schemars::schema_for!(EngineProfile)),
        ("run_spec", schemars::schema_for!(RunSpec)),
        ("plan", schemars::schema_for!(Plan)),
    ];
    for (name, schema) in schemas {
        let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
        std::fs::write(Path::new(&folder).join(format!("{name}.schema.json")), text + "\n")?;
    }
    let metrics = serde_json::to_string_pretty(tameshi_base::metrics::METRICS).expect("the registry is JSON");
    std::fs::write(Path::new(&folder).join("metrics.json"), metrics + "\n")?;
    Ok(())
}
