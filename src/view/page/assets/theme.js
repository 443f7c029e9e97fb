// The switch between the system's, light and dark colours.

/** Adds the switch. The choice is stored if the browser allows it. */
function theme(recolor) {
  const names = ['auto', 'light', 'dark'];
  const store = (act) => {
    try {
      return act(window.localStorage);
    } catch {
      return null;
    }
  };
  const apply = (name) => {
    document.documentElement.dataset.theme = name;
    recolor();
  };
  const kept = store((storage) => storage.getItem('interlap-theme'));
  const choice = el(
    'select',
    {
      id: 'theme',
      onchange: () => {
        store((storage) => storage.setItem('interlap-theme', choice.value));
        apply(choice.value);
      },
    },
    names.map((name) => el('option', { value: name, selected: name === kept }, name)),
  );
  byId('theme-place').append(el('label', {}, 'Colours ', choice));
  apply(names.includes(kept) ? kept : 'auto');
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', recolor);
}
