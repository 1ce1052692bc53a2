// How long the commands take the first time, on two cores, in minutes. The commands announce these
// times; a test compares the documents with them.

export const minutes = {
  start: 3,
  test: 15,
  'test:full': 40,
  build: 7,
  'build:native': 4,
  'build:native-addon': 4,
  'build:web': 3,
};

/** Returns the announcement of a command: “about 15 minutes the first time, on two cores”. */
export const announced = (command) =>
  `about ${minutes[command]} minutes the first time, on two cores`;
