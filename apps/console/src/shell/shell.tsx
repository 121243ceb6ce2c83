import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { Lock, Menu, Search } from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { me } from "../api/session.ts";
import { nav, states, shell as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/states.tsx";
import { Foot } from "./foot.tsx";
import { useKeys } from "./keys.ts";
import { lackingAt, placesFor } from "./navigation.ts";
import { Old } from "./old.tsx";
import style from "./shell.module.css";

const Palette = lazy(() => import("./palette.tsx").then(({ Palette: it }) => ({ default: it })));
const KeyHelp = lazy(() => import("./key-help.tsx").then(({ KeyHelp: it }) => ({ default: it })));

// A link to a part of the page is relative to the base of the document, so that following it would leave the page.
const toContent = () => document.getElementById("content")?.focus();

/** What is around every page of a signed-in user. */
export function Shell() {
  const [overlay, setOverlay] = useState<"palette" | "keys">();
  const [menu, setMenu] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => setMenu(false), [path]);
  useKeys({ palette: () => setOverlay("palette"), help: () => setOverlay("keys") });
  useEffect(() => {
    const ending = new AbortController();
    // Where it cannot be loaded the pages go on asking.
    void import("../api/follow.ts").then(
      ({ startLive }) => ending.signal.aborted || startLive(ending.signal),
      () => undefined,
    );
    return () => ending.abort();
  }, []);
  return (
    <div className={style["shell"]}>
      <button type="button" className={style["skip"]} onClick={toContent}>
        {nav.skip}
      </button>
      <header className={style["top"]}>
        <Brand />
        <Button look="ghost" aria-label={t.search} onClick={() => setOverlay("palette")}>
          <Search size={16} aria-hidden />
        </Button>
        <Button look="ghost" aria-label={t.menu} aria-expanded={menu} onClick={() => setMenu(!menu)}>
          <Menu size={16} aria-hidden />
        </Button>
      </header>
      <Side open={menu} search={() => setOverlay("palette")} keys={() => setOverlay("keys")} />
      <main id="content" className={style["main"]} tabIndex={-1}>
        <Old />
        <Place />
      </main>
      <Suspense>
        {overlay === "palette" && <Palette close={() => setOverlay(undefined)} />}
        {overlay === "keys" && <KeyHelp close={() => setOverlay(undefined)} />}
      </Suspense>
    </div>
  );
}

/** The page, or which permission it takes to see it. */
function Place() {
  const { data } = useQuery(me);
  const path = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath ?? "" });
  const lacking = data && lackingAt(path, data.permissions ?? []);
  return lacking === undefined ? <Outlet /> : <Empty alone title={states.forbidden} text={states.missing(lacking)} icon={Lock} />;
}

function Brand() {
  return (
    <Link to="/" className={style["brand"]}>
      <svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="9" fill="var(--accent)" />
        <path d="M6 19c4-1 7-4 10-9 3 5 6 8 10 9-4 0-7 1-8 4h-4c-1-3-4-4-8-4z" fill="var(--on-accent)" />
      </svg>
      Harrier
    </Link>
  );
}

function Side({ open, search, keys }: { open: boolean; search: () => void; keys: () => void }) {
  const { data } = useQuery(me);
  return (
    <aside className={style["side"]} data-open={open} aria-label={nav.side}>
      <Brand />
      <button type="button" className={style["search"]} onClick={search}>
        <Search size={14} aria-hidden />
        {t.search}
        <kbd className={style["kbd"]}>{t.searchKey}</kbd>
      </button>
      <nav aria-label={nav.main}>
        {placesFor(data?.permissions ?? []).map(({ part, places }) => (
          <div key={part}>
            <div className={style["part"]}>{part}</div>
            <ul className={style["links"]}>
              {places.map(({ to, label, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    params={{ part: undefined }}
                    className={style["link"]}
                    activeOptions={{ exact: to === "/", includeSearch: false }}
                  >
                    <Icon size={16} aria-hidden />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <Foot keys={keys} />
    </aside>
  );
}
