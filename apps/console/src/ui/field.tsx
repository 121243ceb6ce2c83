import { type ComponentProps, type ReactNode, useId } from "react";
import style from "./field.module.css";

interface FieldProps extends Omit<ComponentProps<"input">, "onChange" | "value"> {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  readonly lines?: boolean;
  readonly hideLabel?: boolean;
}

/** A labelled text field; its hint and its error are read out with it. */
export function Field({ label, value, onChange, hint, error, lines, hideLabel, ...rest }: FieldProps) {
  const id = useId();
  const about = error !== undefined || hint !== undefined ? `${id}-about` : undefined;
  const shared = { id, value, className: style["input"], "aria-invalid": error !== undefined || undefined, "aria-describedby": about };
  return (
    <div className={style["field"]}>
      <label htmlFor={id} className={hideLabel ? "hidden" : style["label"]}>
        {label}
      </label>
      {lines ? (
        <textarea {...shared} rows={3} maxLength={rest.maxLength} onChange={(event) => onChange(event.target.value)} />
      ) : (
        <input autoComplete="off" {...rest} {...shared} onChange={(event) => onChange(event.target.value)} />
      )}
      {about !== undefined && (
        <div id={about} className={error === undefined ? style["hint"] : style["error"]}>
          {error ?? hint}
        </div>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly options: readonly { readonly value: string; readonly label: string; readonly disabled?: boolean }[];
  readonly hint?: ReactNode;
  readonly hideLabel?: boolean;
}

/** A labelled choice of one out of many: the platform's own list, which every keyboard and phone knows. */
export function Choice({ label, value, onChange, options, hint, hideLabel }: ChoiceProps) {
  const id = useId();
  return (
    <div className={style["field"]}>
      <label htmlFor={id} className={hideLabel ? "hidden" : style["label"]}>
        {label}
      </label>
      <select
        id={id}
        className={style["input"]}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        aria-describedby={hint === undefined ? undefined : `${id}-about`}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
      {hint !== undefined && (
        <div id={`${id}-about`} className={style["hint"]}>
          {hint}
        </div>
      )}
    </div>
  );
}

/** A choice of few, all of which are seen. */
export function Segments({ label, value, onChange, options }: Omit<ChoiceProps, "hint">) {
  const name = useId();
  return (
    <div className={style["segments"]} role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option.value}>
          <input type="radio" name={name} checked={option.value === value} onChange={() => onChange(option.value)} />
          {option.label}
        </label>
      ))}
    </div>
  );
}

interface CheckProps {
  readonly label: string;
  readonly checked: boolean;
  readonly onChange: (value: boolean) => void;
  readonly hint?: string;
  /** What it is about, where the label alone does not say so. */
  readonly of?: string;
  readonly disabled?: boolean;
  /** The name of the choices of which only one can be taken. */
  readonly one?: string | undefined;
}

/** Yes or no. */
export function Check({ label, checked, onChange, hint, of, disabled, one }: CheckProps) {
  return (
    <label className={style["check"]}>
      <input
        type={one === undefined ? "checkbox" : "radio"}
        name={one}
        checked={checked}
        disabled={disabled}
        aria-label={of === undefined ? undefined : `${of}: ${label}`}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span className={`${style["hint"]}`}> {hint}</span>}
      </span>
    </label>
  );
}
