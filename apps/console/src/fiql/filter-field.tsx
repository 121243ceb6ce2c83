import { type ReactNode, useDeferredValue, useId } from "react";
import field from "../ui/field.module.css";
import { limits } from "../ui/limits.ts";
import { targetFields } from "./fields.ts";
import style from "./filter.module.css";
import { problemIn } from "./problem.ts";
import { Build, Problem, QueryInput } from "./query-input.tsx";

interface FilterFieldProps {
  readonly label: string;
  readonly hint: ReactNode;
  readonly placeholder?: string;
  readonly value: string;
  readonly onChange: (query: string) => void;
  readonly autoFocus?: boolean;
}

/** A field of a form that takes a query of devices, completed while it is written; what is wrong with it is underlined. */
export function FilterField({ label, hint, placeholder, value, onChange, autoFocus }: FilterFieldProps) {
  const id = useId();
  const typed = useDeferredValue(value);
  const problem = problemIn(typed);
  return (
    <div className={field["field"]}>
      <label htmlFor={id} className={field["label"]}>
        {label}
      </label>
      <div className={style["row"]}>
        <div className={style["box"]}>
          <QueryInput
            id={id}
            className={field["input"]}
            placeholder={placeholder}
            maxLength={limits.query}
            autoFocus={autoFocus}
            fields={targetFields}
            text={value}
            setText={onChange}
            about={`${id}-about`}
            invalid={problem !== undefined}
          />
        </div>
        <Build fields={targetFields} query={value} wrong={problemIn(value) !== undefined} apply={onChange} />
      </div>
      {problem === undefined ? (
        <div id={`${id}-about`} className={field["hint"]}>
          {hint}
        </div>
      ) : (
        <Problem id={`${id}-about`} of={problem} query={typed} />
      )}
    </div>
  );
}
