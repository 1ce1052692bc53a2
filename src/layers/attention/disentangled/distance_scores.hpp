#pragma once

#include "layers/attention/query_blocks.hpp"

namespace glassformer {

// The part of a head's scores that depends on distances: products of queries with the keys of
// distances, and of the queries of distances with keys.

/// Multiplies the queries of distances by the visible keys, scratch.keys, and packs the keys of
/// distances.
void begin_distance_scores(const HeadInput& in, AttentionScratch& scratch);

/// Multiplies a block of queries by the keys of distances.
void multiply_by_distances(const HeadInput& in, const QueryBlock& block, AttentionScratch& scratch);

/// The same in integers, of the keys and queries that scratch.integer holds, which are rounded with
/// these scales.
void begin_integer_distance_scores(const HeadInput& in, float k_scale, AttentionScratch& scratch);
void multiply_integers_by_distances(const HeadInput& in, const QueryBlock& block, float q_scale,
                                    AttentionScratch& scratch);

/// Writes what is added to the divided scores of a query, for each of its keys: a bias, or the
/// divided products with distances.
void write_bias(const HeadInput& in, const QueryBlock& block, std::size_t query, KeyRange keys,
                const AttentionScratch& scratch, float* bias);

}  // namespace glassformer
