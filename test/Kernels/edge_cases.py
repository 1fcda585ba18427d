"""A test for each rule that is easy to get wrong, by the name of the rule."""

import sys

import edge_attention
import edge_rows
import edge_shared
import suite as suites
from driver import Failed
from edge import Edge

# Each rule, and the function that tests it.
ROWS = {
    "eps is added inside the root, in the accumulation type":
        edge_rows.eps_inside_the_root,
    "offset is added in the accumulation type":
        edge_rows.offset_in_accumulation_type,
    "sums along a row are blocked":
        edge_rows.sums_are_blocked,
    "sums over rows are blocked":
        edge_rows.sums_over_rows_are_blocked,
    "the variance is of differences":
        edge_rows.variance_is_of_differences,
    "squares of f16 inputs do not overflow":
        edge_rows.squares_of_f16_do_not_overflow,
    "rows beyond 1.8e19 and under 1e-23 are right":
        edge_rows.extreme_rows,
    "softmax subtracts the maximum":
        edge_rows.softmax_subtracts_the_maximum,
    "NaN and Inf propagate along their row":
        edge_rows.not_finite_values_propagate,
    "dweight and dbias sum over all leading dimensions":
        edge_rows.weight_gradients_sum_over_all_rows,
    "zero rows, zero columns and one column":
        edge_rows.empty_and_single,
}
ATTENTION = {
    "a row that keeps nothing gives O = 0, max = -Inf, sum = 0":
        edge_attention.fully_masked_rows,
    "what a masked position holds reaches nothing":
        edge_attention.masked_values_reach_nothing,
    "what some queries keep reaches no other query":
        edge_attention.masked_values_beside_kept_ones,
    "causal alignments":
        edge_attention.causal_alignments,
    "positions and windows of 64 bits do not overflow":
        edge_attention.huge_positions,
    "rows past q_lengths are zero, and no part of dK and dV":
        edge_attention.rows_past_q_lengths,
    "a window of w keeps w + 1 keys":
        edge_attention.window_keeps_one_more,
    "lengths are i32 or i64":
        edge_attention.lengths_of_both_types,
    "scale, softcap, bias, mask, softmax":
        edge_attention.order_of_scores,
    "the maximum is what is subtracted":
        edge_attention.maximum_is_what_is_subtracted,
    "max and sum are in natural units":
        edge_attention.checkpoints_in_natural_units,
    "scores of f16 are in the accumulation type":
        edge_attention.large_scores_in_accumulation_type,
    "query head h reads head h / (H / Hk)":
        edge_attention.heads_share_in_order,
    "dbias is summed where the bias is broadcast":
        edge_attention.bias_gradient_is_reduced,
    "empty extents":
        edge_attention.empty_extents,
    "NaN and Inf propagate where they are kept":
        edge_attention.attention_propagates_not_finite_values,
    "sums over keys and queries are blocked":
        edge_attention.attention_sums_are_blocked,
}
SHARED = {
    "views of any strides are read as what they are":
        edge_shared.views_of_any_strides,
    "gradients are overwritten":
        edge_shared.gradients_are_overwritten,
    "an init that is used again is not changed":
        edge_shared.inits_are_not_changed,
    "threads and runs do not change a bit":
        edge_shared.threads_and_runs_do_not_matter,
}


def part(rules):
    def run(suite):
        for rule, test in rules.items():
            edge = Edge(suite, rule)
            try:
                test(edge)
            except Failed as failure:
                suite.problem(f"{rule}: {failure}")
            tally = suite.tallies.get(rule)
            print(f"{'ok' if tally and not tally.failed else 'FAILED':<6} "
                  f"{edge.checks:>5} checks  {rule}")
            if not edge.checks:
                suite.problem(f"{rule}: expected checks, but there were none")
        return {}
    return run


PARTS = {"rows": part(ROWS), "attention": part(ATTENTION),
         "shared": part(SHARED)}

if __name__ == "__main__":
    sys.exit(suites.run(__doc__, PARTS))
