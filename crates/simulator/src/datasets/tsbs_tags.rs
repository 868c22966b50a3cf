//! The tags of TSBS's hosts and trucks, but the name, which is the device.
//! <https://github.com/timescale/tsbs>, `pkg/data/usecases/devops/host.go` and `iot/truck.go`.

use iotbench_core::{Tag, TagId, TagType, TagValues};

const REGIONS: [(&str, &str); 9] = [
    ("us-east-1", "abce"),
    ("us-west-1", "ab"),
    ("us-west-2", "abc"),
    ("eu-west-1", "abc"),
    ("eu-central-1", "ab"),
    ("ap-southeast-1", "ab"),
    ("ap-southeast-2", "ab"),
    ("ap-northeast-1", "ac"),
    ("sa-east-1", "abc"),
];

/// Of a host: each by chance, the data centre within its region.
pub(super) fn of_host() -> Vec<Tag> {
    let centres = REGIONS.map(|(region, zones)| zones.chars().map(|zone| format!("{region}{zone}")).collect());
    vec![
        one_of("region", &REGIONS.map(|(region, _)| region)),
        Tag { name: "datacenter".into(), values: TagValues::Within { tag: 0, lists: centres.to_vec() } },
        numbered("rack", 100),
        one_of("os", &["Ubuntu16.10", "Ubuntu16.04LTS", "Ubuntu15.10"]),
        one_of("arch", &["x64", "x86"]),
        one_of("team", &["SF", "NYC", "LON", "CHI"]),
        numbered("service", 20),
        numbered("service_version", 2),
        one_of("service_environment", &["production", "staging", "test"]),
    ]
}

/// Of a truck: each by chance, what it can carry, hold and use by its model, which are numbers, as TSBS' are.
pub(super) fn of_truck() -> Vec<Tag> {
    const MODEL: TagId = 2;
    let by_model = |name: &str, values: [&str; 3]| {
        let lists = values.map(|value| vec![value.to_owned()]).to_vec();
        let values = Box::new(TagValues::Within { tag: MODEL, lists });
        Tag { name: name.into(), values: TagValues::Typed { tag_type: TagType::Number, values } }
    };
    vec![
        one_of("fleet", &["East", "West", "North", "South"]),
        one_of("driver", &["Derek", "Rodney", "Albert", "Andy", "Seth", "Trish"]),
        one_of("model", &["F-150", "G-2000", "H-2"]),
        one_of("device_version", &["v1.0", "v1.5", "v2.0", "v2.3"]),
        by_model("load_capacity", ["2000", "5000", "1500"]),
        by_model("fuel_capacity", ["200", "300", "150"]),
        by_model("nominal_fuel_consumption", ["15", "19", "12"]),
    ]
}

fn one_of(name: &str, values: &[&str]) -> Tag {
    Tag { name: name.into(), values: TagValues::OneOf(values.iter().map(|&value| value.into()).collect()) }
}

fn numbered(name: &str, count: u32) -> Tag {
    Tag { name: name.into(), values: TagValues::Numbered { prefix: String::new(), count } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iotbench_core::Tags;

    #[test]
    fn hosts_and_trucks_have_the_tags_of_tsbs() {
        let hosts = Tags::new(1, of_host()).unwrap();
        let counts: Vec<_> = (0..9).map(|tag| hosts.choices(tag)).collect();
        assert_eq!(counts, [9, 23, 100, 3, 2, 4, 20, 2, 3]);
        let trucks = Tags::new(1, of_truck()).unwrap();
        for device in 0..100 {
            let values: Vec<_> = trucks.of(device).map(|(_, value)| value.to_string()).collect();
            let capacity = [("F-150", "2000"), ("G-2000", "5000"), ("H-2", "1500")];
            assert!(capacity.contains(&(&values[2], &values[4])), "{values:?}");
        }
        let types: Vec<_> = trucks.as_slice().iter().map(|tag| tag.values.tag_type()).collect();
        assert_eq!(types, [[TagType::Text; 4].as_slice(), &[TagType::Number; 3]].concat());
    }
}
