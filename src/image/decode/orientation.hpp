#pragma once

#include "image/decode/formats.hpp"

namespace glassformer {

/// Returns the orientation, 1 to 8, from EXIF data or, if that does not name one, from XMP data.
/// The default is 1. Broken data is ignored.
int orientation_of(FileBytes exif, FileBytes xmp);

/// Turns or mirrors a picture so that an orientation becomes 1.
Picture upright(Picture picture, int orientation);

}  // namespace glassformer
