#include "models/dictionary/dictionary_tracer.hpp"

#include "base/error.hpp"

namespace glassformer {
bool DictionaryTracer::wants(std::string_view name) const {
  const std::string full = full_name(name);
  for (std::size_t i = 0; i < dictionaries_.size(); ++i) {
    const DictionaryConfig& config = dictionaries_[i].config();
    if (config.reads == full || config.writes == full) return true;
  }
  return false;
}

void DictionaryTracer::done(std::string_view name, const CompleteRows& rows) {
  const std::string full = full_name(name);
  for (std::size_t i = 0; i < dictionaries_.size(); ++i) {
    const DictionaryConfig& config = dictionaries_[i].config();
    const bool reads = config.reads == full, writes = config.writes == full;
    if (!reads && !writes) continue;
    const std::size_t width = config.d_model;
    if (rows.columns != width || rows.of != RowsOf::tokens) {
      throw_error(ErrorCode::shape_mismatch,
                  {"dictionary: {}: expected rows of {} numbers for each token, got rows of {}",
                   {full, width, rows.columns}});
    }
    Site& site = sites_[i];
    if (reads) copy_rows(rows, site.x);
    if (!writes) continue;
    if (!reads) copy_rows(rows, site.y);
    if (!replace_) continue;
    replace_(i, const_view(site.x.data() + rows.first * width, {rows.count, width}), rows);
  }
}

}  // namespace glassformer
