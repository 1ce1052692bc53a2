#include <cstdint>
#include <string>
#include <string_view>

#include "jinja/evaluator.hpp"
#include "jinja/letters.hpp"

namespace glassformer::jinja {
namespace {

constexpr std::string_view weekday_names[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                              "Thursday", "Friday", "Saturday"};
constexpr std::string_view month_names[] = {"January",   "February", "March",    "April",
                                            "May",       "June",     "July",     "August",
                                            "September", "October",  "November", "December"};
constexpr int days_before_month[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};

bool is_leap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

// Returns the number of days since the beginning of the year.
int year_day(const DateTime& time) {
  return days_before_month[time.month - 1] + time.day - 1 +
         static_cast<int>(time.month > 2 && is_leap(time.year));
}

// Returns the weekday of January 1; 0 is Sunday.
int first_weekday(int year) {
  const int before = year - 1;
  return (1 + before * 365 + before / 4 - before / 100 + before / 400) % 7;
}

int weekday(const DateTime& time) { return (first_weekday(time.year) + year_day(time)) % 7; }

// The week that contains the year's first Thursday is number 1.
struct IsoWeek {
  explicit IsoWeek(const DateTime& time) : year(time.year) {
    const int from_monday = (weekday(time) + 6) % 7;
    week = (year_day(time) - from_monday + 10) / 7;
    if (week < 1) {
      --year;
      week = weeks_in(year);
    } else if (week > weeks_in(year)) {
      ++year;
      week = 1;
    }
  }

  static int weeks_in(int year) {
    const int first = first_weekday(year);
    return first == 4 || (first == 3 && is_leap(year)) ? 53 : 52;
  }

  int year, week;
};

bool is_valid(const DateTime& time) {
  const auto in = [](int number, int low, int high) { return number >= low && number <= high; };
  return in(time.year, 1, 9999) && in(time.month, 1, 12) && in(time.day, 1, 31) &&
         in(time.hour, 0, 23) && in(time.minute, 0, 59) && in(time.second, 0, 59) &&
         in(time.microsecond, 0, 999'999);
}

class TimeWriter {
 public:
  TimeWriter(Evaluator& evaluator, const DateTime& time) : evaluator_(evaluator), time_(time) {}

  std::string write(std::string_view format) {
    std::string text;
    for (std::size_t i = 0; i < format.size(); ++i) {
      if (format[i] != '%') {
        text += format[i];
        continue;
      }
      const std::size_t begin = i++;
      flag_ = '\0';
      while (i < format.size() && std::string_view("-_0^#").find(format[i]) != format.npos) {
        flag_ = format[i++];
      }
      if (i == format.size()) {
        text += format.substr(begin);
        break;
      }
      std::string field = directive(format[i]);
      if (flag_ == '^') field = convert_case(field, LetterCase::upper);
      if (flag_ == '#') {
        field = convert_case(
            field, format[i] == 'p' || format[i] == 'Z' ? LetterCase::lower : LetterCase::upper);
      }
      text += field;
      evaluator_.step();
      evaluator_.expect_output(text.size());
    }
    return text;
  }

 private:
  // Writes a number with at least `width` digits, filled with `filler` unless there is a flag.
  std::string number(int value, int width, char filler = '0') const {
    std::string digits = std::to_string(value);
    if (flag_ == '-') return digits;
    if (flag_ == '_') filler = ' ';
    if (flag_ == '0') filler = '0';
    if (static_cast<int>(digits.size()) < width) {
      digits.insert(0, static_cast<std::size_t>(width) - digits.size(), filler);
    }
    return digits;
  }

  // Writes a date or a time of several numbers, which have no flags.
  std::string combined(std::string_view format) const {
    return TimeWriter(evaluator_, time_).write(format);
  }

  std::string directive(char letter) const {
    const std::string_view day = weekday_names[weekday(time_)];
    const std::string_view month = month_names[time_.month - 1];
    const int hour12 = time_.hour % 12 == 0 ? 12 : time_.hour % 12;
    switch (letter) {
      case 'a':
        return std::string(day.substr(0, 3));
      case 'A':
        return std::string(day);
      case 'b':
      case 'h':
        return std::string(month.substr(0, 3));
      case 'B':
        return std::string(month);
      case 'c':
        return combined("%a %b %e %H:%M:%S %Y");
      case 'C':
        return number(time_.year / 100, 2);
      case 'd':
        return number(time_.day, 2);
      case 'D':
      case 'x':
        return combined("%m/%d/%y");
      case 'e':
        return number(time_.day, 2, ' ');
      case 'f': {
        std::string digits = std::to_string(time_.microsecond);
        return digits.insert(0, 6 - digits.size(), '0');
      }
      case 'F':
        return combined("%Y-%m-%d");
      case 'g':
        return number(IsoWeek(time_).year % 100, 2);
      case 'G':
        return number(IsoWeek(time_).year, 4);
      case 'H':
        return number(time_.hour, 2);
      case 'I':
        return number(hour12, 2);
      case 'j':
        return number(year_day(time_) + 1, 3);
      case 'k':
        return number(time_.hour, 2, ' ');
      case 'l':
        return number(hour12, 2, ' ');
      case 'm':
        return number(time_.month, 2);
      case 'M':
        return number(time_.minute, 2);
      case 'n':
        return "\n";
      case 'p':
        return time_.hour < 12 ? "AM" : "PM";
      case 'P':
        return time_.hour < 12 ? "am" : "pm";
      case 'r':
        return combined("%I:%M:%S %p");
      case 'R':
        return combined("%H:%M");
      case 'S':
        return number(time_.second, 2);
      case 't':
        return "\t";
      case 'T':
      case 'X':
        return combined("%H:%M:%S");
      case 'u':
        return number((weekday(time_) + 6) % 7 + 1, 1);
      case 'U':
        return number((year_day(time_) + 7 - weekday(time_)) / 7, 2);
      case 'V':
        return number(IsoWeek(time_).week, 2);
      case 'w':
        return number(weekday(time_), 1);
      case 'W':
        return number((year_day(time_) + 7 - (weekday(time_) + 6) % 7) / 7, 2);
      case 'y':
        return number(time_.year % 100, 2);
      case 'Y':
        return number(time_.year, 1);
      case 'z':
      case 'Z':
        return {};  // a time without a time zone
      case '%':
        return "%";
      default:
        evaluator_.fail({"the directive %{} of a date is not supported", {letter}});
    }
  }

  Evaluator& evaluator_;
  const DateTime& time_;
  char flag_ = '\0';
};

}  // namespace

std::string format_time(Evaluator& evaluator, const DateTime& time, std::string_view format) {
  if (!is_valid(time)) evaluator.fail(ErrorCode::invalid_option, "the current time is not a date");
  return TimeWriter(evaluator, time).write(format);
}

}  // namespace glassformer::jinja
