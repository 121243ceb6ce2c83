import { X } from "lucide-react";
import { useId, useRef, useState } from "react";
import { filterBuilder as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/confirm.tsx";
import { Choice, Field, Segments } from "../ui/field.tsx";
import { operatorsOf, type QueryField } from "./fields.ts";
import style from "./filter-builder.module.css";
import {
  added,
  built,
  type Condition,
  fieldOf,
  type Group,
  operatorsBehind,
  replaced,
  takesList,
  treeOf,
  withField,
  withOperator,
  withValue,
} from "./filter-builder.state.ts";
import { type CountOf, useLiveCount } from "./live-count.ts";
import { useItems } from "./values.ts";

interface FilterBuilderProps {
  /** It can be read. */
  readonly query: string;
  readonly fields: readonly QueryField[];
  readonly countOf: CountOf | undefined;
  readonly apply: (query: string) => void;
  readonly close: () => void;
}

/** A filter as conditions in groups; its text is below them, and Apply puts it into the filter box. */
export function FilterBuilder({ query, fields, countOf, apply, close }: FilterBuilderProps) {
  const [tree, setTree] = useState(() => treeOf(query) ?? (treeOf("") as Group));
  const { query: text, problem } = built(tree);
  const { words, refused } = useLiveCount(text === "" ? undefined : text, countOf);
  const why = problem === "unfinished" ? t.unfinished : (problem ?? refused);
  return (
    <FormDialog open wide close={close} title={t.title} text={t.text} button={t.apply} why={why} run={async () => apply(text ?? "")}>
      <Conditions group={tree} tree={tree} change={setTree} fields={fields} />
      <div className={style["text"]}>
        <code>{text === "" ? <span className="muted">{t.everything}</span> : text}</code>
        <span className="muted num" role="status">
          {why ?? words}
        </span>
      </div>
    </FormDialog>
  );
}

interface PartsProps {
  readonly tree: Group;
  readonly change: (tree: Group) => void;
  readonly fields: readonly QueryField[];
}

function Conditions({ group, inner, ...rest }: PartsProps & { group: Group; inner?: { readonly remove: () => void } }) {
  const { tree, change } = rest;
  const box = useRef<HTMLFieldSetElement>(null);
  const add = (kind: "condition" | "group") => change(added(tree, group.id, kind));
  // The button that had the focus goes with the part.
  const remove = (id: number) => {
    box.current?.querySelector<HTMLElement>(":scope > [data-more] > button")?.focus();
    change(replaced(tree, id, () => undefined));
  };
  return (
    <fieldset ref={box} className={style["group"]} aria-label={t.group}>
      {group.parts.length > 1 && (
        <Segments
          label={t.how}
          value={group.kind}
          onChange={(kind) => change(replaced(tree, group.id, (part) => ({ ...part, kind: kind as "and" | "or" }) as Group))}
          options={[
            { value: "and", label: t.all },
            { value: "or", label: t.any },
          ]}
        />
      )}
      {group.parts.map((part, index) =>
        part.kind === "condition" ? (
          <Row key={part.id} condition={part} nth={index + 1} remove={() => remove(part.id)} {...rest} />
        ) : (
          <Conditions key={part.id} group={part} inner={{ remove: () => remove(part.id) }} {...rest} />
        ),
      )}
      <div className={style["more"]} data-more="">
        <Button small onClick={() => add("condition")}>
          {t.add}
        </Button>
        <Button small look="ghost" onClick={() => add("group")}>
          {t.addGroup}
        </Button>
        {inner !== undefined && (
          <Button small look="ghost" onClick={inner.remove}>
            {t.removeGroup}
          </Button>
        )}
      </div>
    </fieldset>
  );
}

interface RowProps extends PartsProps {
  readonly condition: Condition;
  readonly nth: number;
  readonly remove: () => void;
}

/** One condition: a field, how it is compared, and with what. */
function Row({ condition, nth, remove, tree, change, fields }: RowProps) {
  const { id, field: name, operator } = condition;
  const field = fieldOf(name, fields);
  const operators = field === undefined ? [] : operatorsBehind(operatorsOf(field.kind));
  const offered = operators.includes(operator) ? operators : [operator, ...operators];
  const choose = (next: string) => {
    const kind = fieldOf(next, fields)?.kind;
    change(withField(tree, id, next, kind === undefined ? [] : operatorsBehind(operatorsOf(kind)), fieldOf(next, fields)?.words));
  };
  const isKey = field?.kind === "key";
  // A field that the list does not have was written by hand, and stays.
  const names = name === "" || field !== undefined ? fields.map((each) => each.name) : [name, ...fields.map((each) => each.name)];
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is drawn with a border and a legend
    <div className={style["row"]} role="group" aria-label={t.condition(nth)}>
      <Choice
        hideLabel
        label={t.field}
        value={field?.name ?? name}
        onChange={choose}
        options={[{ value: "", label: t.chooseField }, ...names.map((value) => ({ value, label: t.fields[value] ?? value }))]}
      />
      {isKey && <Key field={field} name={name} choose={choose} fields={fields} />}
      <Choice
        hideLabel
        label={t.operator}
        value={operator}
        onChange={(next) => change(withOperator(tree, id, next as Condition["operator"]))}
        options={offered.map((value) => ({ value, label: (field?.kind === "time" && t.timeOperators[value]) || t.operators[value] }))}
      />
      <Value condition={condition} field={field} fields={fields} write={(value) => change(withValue(tree, id, value))} />
      <Button look="ghost" small aria-label={t.remove(nth)} onClick={remove}>
        <X size={13} aria-hidden />
      </Button>
    </div>
  );
}

interface KeyProps {
  readonly field: QueryField;
  readonly name: string;
  readonly choose: (name: string) => void;
  readonly fields: readonly QueryField[];
}

/** The key of an attribute or of metadata; those that devices have are offered. */
function Key({ field, name, choose, fields }: KeyProps) {
  const offers = useId();
  return (
    <>
      <Field
        hideLabel
        label={t.key}
        placeholder={t.key}
        list={offers}
        value={name.slice(field.name.length)}
        onChange={(key) => choose(field.name + key)}
      />
      <Offers id={offers} of={useItems(name, fields)} />
    </>
  );
}

interface ValueProps {
  readonly condition: Condition;
  readonly field: QueryField | undefined;
  readonly fields: readonly QueryField[];
  readonly write: (value: string) => void;
}

function Value({ condition: { field: name, operator, value }, field, fields, write }: ValueProps) {
  const offers = useId();
  const isList = takesList(operator);
  const items = useItems(isList || name === "" ? "" : `${name}==${value}`, fields);
  if (field?.words !== undefined && !isList) {
    const options = field.words.map((word) => ({ value: word, label: word }));
    const kept = value === "" || field.words.includes(value) ? [] : [{ value, label: value }];
    return (
      <Choice
        hideLabel
        label={t.value}
        value={value}
        onChange={write}
        options={[{ value: "", label: t.chooseValue }, ...kept, ...options]}
      />
    );
  }
  const isText = field === undefined || field.kind === "text" || field.kind === "key";
  return (
    <>
      <Field
        hideLabel
        label={isList ? t.values : t.value}
        placeholder={isList ? t.values : isText ? t.wildcard : t.value}
        list={offers}
        value={value}
        onChange={write}
      />
      <Offers id={offers} of={isList ? [] : items} />
    </>
  );
}

function Offers({ id, of }: { id: string; of: readonly string[] }) {
  return (
    <datalist id={id}>
      {of.map((value) => (
        <option key={value} value={value} />
      ))}
    </datalist>
  );
}
