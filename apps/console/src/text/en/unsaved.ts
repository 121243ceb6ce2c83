export const unsaved = {
  question: "What you have typed is not saved.",
  stay: "Go on typing",
  discard: "Discard it",
};
