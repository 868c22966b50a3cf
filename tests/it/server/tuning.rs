//! What an agent takes from another machine of the settings of each server.

use iotbench::BACKENDS;
use iotbench_launcher::ServerSettings;

#[test]
fn what_is_known_to_tune_a_server_is_taken_and_runs_nothing() {
    for info in BACKENDS.iter().map(|backend| backend.info()) {
        let recipes = info.recipe.into_iter().chain(info.variants.iter().map(|variant| variant.recipe));
        for recipe in recipes {
            assert!(!recipe.tuning.is_empty(), "{} cannot be tuned at an agent", info.name);
            for key in recipe.tuning {
                let of_role = |role: &str| if recipe.roles.len() > 1 { format!("{role}.{key}") } else { (*key).into() };
                // The recipe of a role may set it itself.
                let taken = recipe.roles.iter().filter_map(|role| {
                    let setting = (of_role(role.name), "1".to_owned());
                    ServerSettings::new([setting], recipe).ok()?.only_tuning(recipe).ok()
                });
                assert!(taken.count() > 0, "{}: {key}", info.name);
            }
        }
    }
}
