from __future__ import annotations


def of_the_model(keep_run):
    return keep_run(
        checkpoint="fp8",
        practice=False,
        evidence={"model": "RedHatAI/diffusiongemma-26B-A4B-it-FP8-dynamic", "hardware": ["NVIDIA H200, 139.8 GiB"]},
    )


def test_show_sets_a_run_beside_the_claims_that_mean_the_same(lab, keep_run):
    run = of_the_model(keep_run)
    text = lab("show", run.id).stdout
    assert "public claims of the same definition" in text
    assert "375 tok/s" in text and "× 0.93" in text
    assert "its source does not say what was divided by what" in text
    claims = lab.json("show", run.id)["claims"]
    recipe = next(one for one in claims["beside"] if one["id"] == "recipe-output")
    assert (recipe["yours"], recipe["value"], recipe["ratio"]) == (350.0, 375.0, 350 / 375)
    assert recipe["url"].startswith("https://")


def test_a_practice_number_is_never_set_beside_a_claim(lab, keep_run):
    run = keep_run()
    text = lab("show", run.id).stdout
    assert "public claims: none is set beside this" in text
    assert "375" not in text and "1,100" not in text
    assert lab.json("show", run.id)["claims"]["beside"] == []
    other = of_the_model(keep_run)
    practice, model = lab.json("compare", run.id, other.id)["claims"]
    assert practice["beside"] == [] and practice["reason"]
    assert model["beside"]


def test_a_ledger_with_faults_is_named_and_hides_nothing_else(lab, keep_run, home):
    from lessons.scaffold import write_scaffold

    folder = home / "data/labtui/lessons/mine"
    write_scaffold(folder)
    (folder / "claims.toml").write_text("format_version = 7\n")
    result = lab("show", of_the_model(keep_run).id)
    assert result.exit_code == 0 and "The claims ledger has faults" in result.stderr
    assert "375 tok/s" in result.stdout
