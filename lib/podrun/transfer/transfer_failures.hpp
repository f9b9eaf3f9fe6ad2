// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "podrun/link/failure.hpp"

namespace podrun::transfer {

// The stage and the causes of failures of copies, besides those that all runs share.
inline constexpr link::StageWords kCopying{.identifier = "copying", .words = "copying", .doing = "copying"};

inline constexpr link::CauseWords kNotComparable{"not_comparable", "this host differs from the others"};
inline constexpr link::CauseWords kFilesDiffer{"files_differ", "what arrived is not what was sent",
                                               "{} ({})"};
inline constexpr link::CauseWords kTooLarge{"too_large", "too much to copy"};
inline constexpr link::CauseWords kNotCopied{"not_copied", "not all of it was copied"};
inline constexpr link::CauseWords kDeletesAll{"deletes_all", "everything there would be deleted"};
inline constexpr link::CauseWords kLocalFileFailed{"local_file_failed",
                                                   "a file of this machine cannot be read or written"};

}  // namespace podrun::transfer
