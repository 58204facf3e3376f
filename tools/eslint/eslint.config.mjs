import js from "@eslint/js";
import globals from "globals";

const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML", "write"];

export default [
  js.configs.recommended,
  {
    languageOptions: { ecmaVersion: 2022, sourceType: "script", globals: globals.browser },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-shadow": "error",
      "no-unused-expressions": "error",
      "no-var": "error",
      "prefer-const": "error",
      strict: ["error", "function"],
      // All scripts share one function: what is called later may stand in a later one.
      "no-use-before-define": ["error", { functions: false, classes: false, variables: false }],
      // Nothing makes markup of texts.
      "no-restricted-properties": ["error", ...MARKUP.map((property) => ({ property }))],
    },
  },
];
