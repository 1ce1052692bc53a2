#pragma once

namespace glassformer {

/// How the token vectors of a text are combined into one vector.
enum class TokenPooling {
  cls,            ///< the first token's vector
  max,            ///< the maximum in each dimension
  mean,           ///< the sum / n
  mean_sqrt_len,  ///< the sum / sqrt(n)
  weighted_mean,  ///< the mean, with weight k for the k-th token
  last_token,     ///< the last token's vector
};

/// How the similarity of two vectors is computed. Higher is more similar.
enum class Similarity {
  cosine,     ///< of the angle between them; 0 if one of them is 0
  dot,        ///< their dot product
  euclidean,  ///< minus their Euclidean distance
  manhattan,  ///< minus the sum of the absolute differences
};

}  // namespace glassformer
