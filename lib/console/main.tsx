// The console: people see and steer the hub in a browser. This file puts it into the page; app.tsx is its frame.

import { render } from 'solid-js/web';
import { App } from './app.tsx';
import { payReleases } from './dashboard/controls/owed.ts';
import { applyTheme } from './page/theme.ts';

applyTheme();
payReleases();
render(() => <App />, document.getElementById('app')!);
