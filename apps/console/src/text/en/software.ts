export const sets = {
  find: "Find a set",
  set: "Distribution set",
  choose: "Choose a set",
  incomplete: "incomplete",
  invalid: "invalidated",
};
