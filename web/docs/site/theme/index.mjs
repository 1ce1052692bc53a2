// VitePress's own theme with the typefaces and colors of the page.
import theme from 'vitepress/theme-without-fonts';
import '@fontsource-variable/newsreader/wght.css';
import '@fontsource-variable/instrument-sans/wdth.css';
import './style.css';

export default theme;
