"""In which order simulated runs begin."""

from tameshi.run.dispatcher import next_to_run


def test_unknown_cells_run_in_their_order_and_then_what_took_longest_first() -> None:
    waiting, order = ["a", "b", "c", "a", "b", "c"], []
    took: dict[str, float] = {}
    seconds = {"a": 2.0, "b": 9.0, "c": 5.0}
    while waiting:
        cell = waiting.pop(next_to_run(waiting, took))
        took[cell] = seconds[cell]
        order.append(cell)
    assert order == ["a", "b", "c", "b", "c", "a"]
